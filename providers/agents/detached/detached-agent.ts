import { appendFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { findGroup, isSameProcess, type ProcessIdentity } from '../../../platform/processes/identity';
import { deliver } from '../local/deliver';
import type { SpawnedAgent } from '../local/spawn-agent';
import { AgentDetachedError } from '../provider';
import { readExit } from './holder';
import type { Notices } from './notices';
import { type Dropped, droppedOf, readIfThere, type RecordedExit, type Spool, unbind } from './spool';
import { Tail } from './tail';

/** The agent's questions that have a response, from any worker. */
export interface AnsweredQuestions {
  has(requestId: string): boolean;
  add(requestId: string): Promise<void>;
}

/** What an agent has besides that outlives its worker. */
export interface Detachment {
  answered: AnsweredQuestions;
  /** What its spool could not hold of a stream; to be asked at the end of that stream. */
  dropped(stream: 'stdout' | 'stderr'): Promise<Dropped>;
  /** Records that it is being ended: no worker may adopt it any more, whatever becomes of this process. */
  disown(): void;
  /** Follows it no further; its streams and `exited` fail with `AgentLeftError`. */
  detach(): void;
  close(): void;
}

export type DetachedAgent = SpawnedAgent & { detachment: Detachment };

export interface DetachedAgentOptions {
  spool: Spool;
  identity: ProcessIdentity;
  /** Where its input can be written to. */
  input: Writable | undefined;
  notices: Notices;
  /** Known already for an agent that ended while no worker watched. */
  exit?: RecordedExit;
  /** Aborted when nothing is left that could write to its streams. */
  over: AbortSignal;
  limitBytes: number;
}

/** A detached agent in the shape of one whose streams are pipes to this process: read from where it began. */
export async function followDetached(options: DetachedAgentOptions): Promise<DetachedAgent> {
  const { spool, identity, notices, over, limitBytes } = options;
  const detached = new AbortController();
  const ended = new AbortController();
  const answered = await answeredIn(spool);
  const tail = (path: string) => new Tail(path, { notices, over, limitBytes });
  const [stdout, stderr] = [tail(spool.out), tail(spool.err)];
  // The reader of a stream receives its error; before there is one, it is ignored.
  for (const stream of [stdout, stderr]) {
    stream.on('error', () => undefined);
  }
  const stdin = options.input ?? closedInput();
  over.addEventListener('abort', () => notices.notify());
  const exited = options.exit
    ? Promise.resolve(options.exit)
    : exitOf(spool, identity, { notices, detached: detached.signal });
  void exited.then(
    () => ended.abort(),
    () => undefined,
  );
  if (options.exit) {
    ended.abort();
  }
  return {
    identity,
    stdout,
    stderr,
    stdin,
    send: (json) => void stdin.write(`${json}\n`),
    deliver: (json) => deliver({ stdin, ended: ended.signal }, json),
    exited,
    release: () => undefined,
    // Of one that ended long ago the number may be another's by now.
    group: async () => (options.exit ? [] : findGroup(identity.pid)),
    detachment: {
      answered,
      dropped: (stream) => droppedOf(stream === 'stdout' ? spool.out : spool.err),
      disown: () => unbind(spool),
      detach() {
        detached.abort();
        for (const stream of [stdout, stderr]) {
          stream.destroy(new AgentDetachedError());
        }
        notices.notify();
      },
      close() {
        stdin.destroy();
        notices.close();
      },
    },
  };
}

/** How it ended. A holder that is gone without a record was killed, and may have left its agent behind. */
async function exitOf(
  spool: Spool,
  identity: ProcessIdentity,
  { notices, detached }: { notices: Notices; detached: AbortSignal },
): Promise<RecordedExit> {
  for (;;) {
    const changed = notices.next('exit');
    const isThere = await isSameProcess(identity);
    const exit = await readExit(spool);
    if (exit) {
      return exit;
    }
    if (!isThere) {
      return { exitCode: null, signal: 'SIGKILL' };
    }
    if (detached.aborted) {
      throw new AgentDetachedError();
    }
    await changed;
  }
}

/** The input of an agent that has closed it, or has ended. */
function closedInput(): Writable {
  const stdin = new Writable();
  stdin.on('error', () => undefined);
  stdin.destroy();
  return stdin;
}

async function answeredIn({ answered }: Spool): Promise<AnsweredQuestions> {
  const lines = ((await readIfThere(answered)) ?? '').split('\n').slice(0, -1);
  const answeredIds = new Set(lines.flatMap(requestIdIn));
  return {
    has: (requestId) => answeredIds.has(requestId),
    async add(requestId) {
      answeredIds.add(requestId);
      // Begins a line of its own: on a full disk a part of the one before may be all that was written.
      await appendFile(answered, `\n${JSON.stringify(requestId)}\n`);
    },
  };
}

/** None in an empty line, and none in one that a full disk cut. */
function requestIdIn(line: string): string[] {
  try {
    return [JSON.parse(line) as string];
  } catch {
    return [];
  }
}
