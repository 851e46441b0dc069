import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { identifyChild, type ProcessIdentity } from '../../../platform/processes/identity';
import { asOperator } from '../../../platform/processes/operator-umask';
import { endOf, type SpawnRequest, startedProgram } from '../local/spawn-agent';
import { lastBytes, readIfThere, type RecordedExit, type Spool } from './spool';

/**
 * Starts the agent with its streams in the spool, waits for it and writes down how it ended. It is a shell because
 * a shell is there, needs 2 MB where node needs 40, and does exactly this:
 *
 * - It leads the group, so that ending the group ends it too; signals for the group are the agent's, and the holder
 *   stays to write down what came of them. A trap, unlike an ignored signal, is not inherited.
 * - It has the writing end of the agent's input open, so that the input lasts when a worker is gone, and not the
 *   reading end, so that an agent that has closed its input is noticed. The agent opens its own end, in a subshell:
 *   one that the holder opened for it would stay open in the holder. From `begun` on it has it.
 * - What the agent writes goes through a pipe to copiers for each stream: `tee` stores at most so many bytes (the limit of a
 *   file is its own, and none of the agent's), `tail` the last part and `wc` how many there were, so that nothing is lost
 *   that fits in that part. Where `tee` cannot write on, it reports so and reads on: the agent is neither blocked nor ended.
 *   Copiers ignore signals for the group: they end when nothing writes any more. They ignore XFSZ too, which would leave a
 *   core file in the worktree.
 * - The space of all files but the streams is taken before the agent starts, and they are overwritten: a disk that
 *   is full by then does not make an end look like another one. The exit file is renamed into its location: its reader sees
 *   all of it.
 */
const script = String.raw`
trap : TERM HUP INT QUIT
blocks=$1 last=$2
shift 2
command -p mkfifo -m 600 "$0/in" "$0/out.pipe" "$0/err.pipe" "$0/out.count" "$0/err.count" || exit 125
take() { printf "%$1s" '' | command -p tr ' ' '\0' >"$2" || exit 125; }
take 4096 "$0/exit.draft"
for name in out err; do
  take 4096 "$0/$name.dropped" && take 4096 "$0/$name.total" && take "$last" "$0/$name.last"
done
copy() {
  trap '' TERM HUP INT QUIT XFSZ
  command -p wc -c <"$0/$1.count" 1<>"$0/$1.total" &
  (ulimit -f "$blocks"; command -p tee -a "$0/$1" "$0/$1.count" 2<>"$0/$1.dropped") |
    command -p tail -c "$last" 1<>"$0/$1.last"
  wait
}
copy out <"$0/out.pipe" &
copy err <"$0/err.pipe" &
exec 3<>"$0/in" 4>"$0/in" 3>&-
(
  exec <"$0/in" 4>&- >"$0/out.pipe" 2>"$0/err.pipe"
  : >"$0/begun"
  exec "$@"
)
code=$?
echo "$code" 1<>"$0/exit.draft" && command -p mv -f "$0/exit.draft" "$0/exit"
`;

export interface Holder {
  identity: ProcessIdentity;
  child: ChildProcess;
}

/** The unit of a shell's limit for files, in bytes (POSIX). */
const blockBytes = 512;

/**
 * @param limitBytes how much is stored of each stream
 * @throws the system's error when it cannot be started
 */
export async function startHolder(spool: Spool, request: SpawnRequest, limitBytes: number): Promise<Holder> {
  const { cwd, env } = request;
  const { path, args } = await startedProgram(request);
  const limits = [Math.max(1, Math.floor(limitBytes / blockBytes)), lastBytes].map(String);
  const child = asOperator(() =>
    spawn('/bin/sh', ['-c', script, spool.path, ...limits, path, ...args], {
      cwd,
      env,
      detached: true,
      stdio: 'ignore',
    }),
  );
  const identity = child.pid === undefined ? undefined : identifyChild(child.pid);
  if (identity === undefined) {
    const [error] = (await once(child, 'error')) as [Error];
    throw error;
  }
  child.on('error', () => undefined);
  // This process may end before it.
  child.unref();
  return { identity, child };
}

/** How the agent ended; `undefined` while its holder has not written it down. */
export async function readExit({ exit }: Spool): Promise<RecordedExit | undefined> {
  const code = Number.parseInt((await readIfThere(exit)) ?? '', 10);
  return Number.isNaN(code) ? undefined : endOf(code);
}
