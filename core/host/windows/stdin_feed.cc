#include "host/windows/stdin_feed.h"

namespace loom::windows {

host::StdinAnswer StdinFeed::offer(ByteView chunk, bool eof) {
  if (ended_) return host::StdinAnswer::kEnded;
  if (writer_.broken()) return host::StdinAnswer::kWriteFailed;
  if (eof_) return host::StdinAnswer::kAfterEof;
  const std::size_t pending = writer_.pending();
  if (pending > 0 && !chunk.empty() && pending + chunk.size() > host::kMaxPendingStdin) {
    return host::StdinAnswer::kWait;
  }
  writer_.push(Bytes(chunk.begin(), chunk.end()));
  eof_ = eof;
  if (eof_) writer_.close_when_written();
  return host::StdinAnswer::kAccepted;
}

void StdinFeed::abandon() {
  ended_ = true;
  writer_.stop();
}

}  // namespace loom::windows
