#pragma once

namespace loom::app {

inline constexpr const char* kHostileModule = "loom_hostile";

// The adversary in Erlang, whose virtual machine runs any code it is given with all that the
// process may do. It prints the lines of adversary.h; its five arguments are those of
// --probe-hostile.
inline constexpr const char* kHostileSource = R"erlang(-module(loom_hostile).
-export([run/1]).

run([Readable, Writable, Secret, Outside, Port]) ->
    say("hostile-loaded"),
    case file:read_file(Readable) of
        {ok, _} -> say("control-read-ok");
        {error, E1} -> refused("control-read-BROKEN", E1)
    end,
    case file:write_file(Writable, <<"hostile\n">>) of
        ok -> say("control-write-ok");
        {error, E2} -> refused("control-write-BROKEN", E2)
    end,
    case file:read_file(Secret) of
        {ok, Bytes} -> say("secret-read-SUCCEEDED:" ++ first_line(Bytes));
        {error, E3} -> refused("secret-read-denied", E3)
    end,
    case file:write_file(Outside, <<"hostile\n">>) of
        ok -> say("outside-write-SUCCEEDED");
        {error, E4} -> refused("outside-write-denied", E4)
    end,
    case gen_tcp:connect({127, 0, 0, 1}, list_to_integer(Port), [binary], 3000) of
        {ok, _} -> say("net-CONNECTED");
        {error, E5} -> refused("net-denied", E5)
    end,
    say("hostile-done"),
    halt().

first_line(Bytes) ->
    [Line | _] = binary:split(Bytes, <<"\n">>),
    binary_to_list(Line).

refused(Step, Reason) -> say(Step ++ ":" ++ lists:flatten(io_lib:format("~0p", [Reason]))).

say(Line) -> io:put_chars(Line ++ "\n").
)erlang";

}  // namespace loom::app
