#pragma once

#include <loom/backend.h>
#include <loom/backend_abi.h>

#include <cstdint>
#include <memory>

// How a backend written in C++ becomes a loadable module:
//
//   #include <loom/export_backend.h>
//
//   class NspawnBackend final : public loom::JailBackend {
//    public:
//     explicit NspawnBackend(loom::HostServices& host);
//     ...
//   };
//
//   LOOM_EXPORT_BACKEND(NspawnBackend, "nspawn", "0.1.0");
//
// Once per module, at namespace scope, outside every namespace. What the class throws never leaves
// the module: it comes out as kBackend, naming the verb.
namespace loom::exported {

// Makes the author's object. `host` outlives it.
using Factory = std::unique_ptr<JailBackend> (*)(HostServices& host);

template <class Class>
std::unique_ptr<JailBackend> make(HostServices& host) {
  return std::make_unique<Class>(host);
}

// The slots of the table, the same for every class. `self` is what create returned.
[[nodiscard]] void* create(const loom_host_v1* host, const loom_sink* error,
                           Factory factory) noexcept;
void destroy(void* self) noexcept;
loom_status features(void* self, loom_view in, const loom_sink* out,
                     const loom_sink* error) noexcept;
loom_status survey(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept;
loom_status pieces(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept;
loom_status probe(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept;
loom_status plan(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept;
loom_status render(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept;
loom_status audit(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept;
loom_status start(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept;
loom_status observe(void* self, loom_view in, const loom_sink* out,
                    const loom_sink* error) noexcept;
loom_status targets(void* self, loom_view in, const loom_sink* out,
                    const loom_sink* error) noexcept;
void finish(void* self) noexcept;

template <class Class>
void* create_of(const loom_host_v1* host, const loom_sink* error) noexcept {
  return create(host, error, &make<Class>);
}

// The compiler that built the module; shown to people, never compared.
inline constexpr const char* kBuildTag = "c++ " __VERSION__;

template <class Class>
[[nodiscard]] constexpr loom_backend_v1 make_table(const char* name, const char* version) noexcept {
  return {.magic = LOOM_BACKEND_MAGIC,
          .abi = LOOM_BACKEND_ABI,
          .struct_size = static_cast<std::uint32_t>(sizeof(loom_backend_v1)),
          .reserved = 0,
          .name = name,
          .version = version,
          .build_tag = kBuildTag,
          .create = &create_of<Class>,
          .destroy = &destroy,
          .features = &features,
          .survey = &survey,
          .pieces = &pieces,
          .probe = &probe,
          .plan = &plan,
          .render = &render,
          .audit = &audit,
          .start = &start,
          .observe = &observe,
          .targets = &targets,
          .finish = &finish};
}

}  // namespace loom::exported

#if defined(_WIN32)
#define LOOM_EXPORTED_SYMBOL_ __declspec(dllexport)
#else
#define LOOM_EXPORTED_SYMBOL_ __attribute__((visibility("default")))
#endif

#define LOOM_EXPORT_BACKEND(Class, backend_name, backend_version)                              \
  extern "C" LOOM_EXPORTED_SYMBOL_ const loom_backend_v1* LOOM_BACKEND_ENTRY() LOOM_NOEXCEPT { \
    static constexpr loom_backend_v1 kTable =                                                  \
        ::loom::exported::make_table<Class>(backend_name, backend_version);                    \
    return &kTable;                                                                            \
  }                                                                                            \
  static_assert(true, "so that the use ends in a semicolon")
