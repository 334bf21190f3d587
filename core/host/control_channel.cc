#include "host/control_channel.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

#include "host/errno_text.h"
#include "host/memory_file.h"
#include "host/packet_socket.h"

namespace loom::host {

namespace {

constexpr const char* kChannel = "control channel";
constexpr const char* kCommitFile = "loom-commit";

}  // namespace

Result<ControlPair> make_control_pair() {
  LOOM_TRY(PacketPair pair, make_packet_pair(kChannel));
  if (::fcntl(pair.informed.get(), F_SETFL, O_NONBLOCK) != 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "control channel: set up: " + errno_text(error), error);
  }
  return ControlPair{.host = std::move(pair.informed), .child = std::move(pair.other)};
}

// Nothing is ever lent to the host: a descriptor that arrives is closed with its packet.
Result<ReceivedControl> receive_control(int host_end) {
  LOOM_TRY(auto packet, receive_packet(kChannel, host_end, kMaxControlBytes, MSG_DONTWAIT));
  if (!packet) return ReceivedControl{};
  if (packet->closed) return ReceivedControl{.closed = true};
  LOOM_TRY(ControlMessage decoded, decode_control_message(packet->bytes));
  return ReceivedControl{.message = std::move(decoded), .sender = packet->sender.value_or(0)};
}

Result<UniqueFd> begin_commit() { return begin_memory_file(kCommitFile); }

Result<UniqueFd> make_commit(UniqueFd begun, ByteView document) {
  return finish_memory_file(kCommitFile, std::move(begun), document);
}

Result<void> send_commit(int host_end, int commit_file, int exec_rules) {
  ControlMessage commit;
  commit.kind = ControlKind::kCommit;
  return send_packet(kChannel, host_end, encode(commit), {}, commit_file, exec_rules);
}

}  // namespace loom::host
