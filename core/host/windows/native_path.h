#pragma once

#include <loom/absolute_path.h>

#include <string>
#include <string_view>
#include <vector>

// Names of files as Windows and as the rest of the helper spell them. Pure; UTF-8.
namespace loom::windows {

// Whether `text` names one place on this machine: "C:\work", "C:/work", "/C:/work", or "/" and what
// begins with it, which lie on the system's drive. No UNC name ("\\server\share"), no device
// ("\\.\x", "\\?\x"), nothing that depends on a current directory ("C:work", "\work", "work"), no
// backslash behind a leading slash ("/C:\work"), as in AbsolutePath::parse_with_drives.
[[nodiscard]] bool is_full_path(std::string_view text);

// The spelling for Windows: "/C:/work" and "C:/work" are "C:\work". Without a drive: on
// `system_drive` ("C:"). Only for a full path.
[[nodiscard]] std::string native_path(std::string_view full, std::string_view system_drive);

// ASCII letters in lower case; everything else as it is. Windows compares more letters without
// their case, so texts that differ here may still be one name to it.
[[nodiscard]] std::string folded(std::string_view text);

// The directories of a PATH list (separated by ';', each perhaps in quotes), in order, without
// repetition: those with a drive, none within `excluded`, whichever case (of ASCII letters) either
// is spelled in, with or without a drive, and none with a component that Windows reads as another
// name ("work.", "work ", "work::$DATA"). Native spelling; nobody has looked at the disk, so a
// short name (PROGRA~1) or a link into an excluded directory is another directory here.
[[nodiscard]] std::vector<std::string> search_directories(std::string_view list,
                                                          const std::vector<AbsolutePath>& excluded,
                                                          std::string_view system_drive);

// Only these are started. Security: a batch file would be handed to cmd.exe, which takes the
// command line apart by rules that no quoting satisfies, so that an argument can become a command.
// Windows cuts dots and spaces off the end of a name before it looks at the extension; a colon
// would name a stream of another file.
[[nodiscard]] bool is_startable_name(std::string_view file);

// The files that a command's argv[0] may mean, best first: in `directory` (native) if it holds a
// separator or a drive, else in each of `search` (native), with ".exe" behind a name without an
// extension. Never the helper's own or the current directory.
[[nodiscard]] std::vector<std::string> program_candidates(std::string_view program,
                                                          std::string_view directory,
                                                          std::string_view system_drive,
                                                          const std::vector<std::string>& search);

}  // namespace loom::windows
