import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createAcpProvider } from '../../../providers/agents/acp/acp-provider';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';
import { aDispatch, RecordingSink } from './agent-fixture';

const provider = createProcessProvider();
const never = new AbortController().signal;
let directory: TempDir;

beforeEach(async () => {
  directory = await makeTempDir('output');
});
afterEach(() => directory.remove());

/** A sink that takes its time to record the start, as a busy store does. */
class SlowSink extends RecordingSink {
  constructor(private readonly startMs: number) {
    super();
  }
  override async started(...process: Parameters<RecordingSink['started']>): Promise<void> {
    await delay(this.startMs);
    await super.started(...process);
  }
}

interface Reported {
  lifeMs: number;
  startMs: number;
  out: string[];
  err: string[];
  status: 'success' | 'partial' | 'blocked' | 'failed';
  lineEnd: boolean;
  exitCode: number;
  detached: boolean;
}

const words = fc.array(fc.stringMatching(/^[a-zA-Z0-9 äß.]{0,60}$/), { maxLength: 40 });
const reported: fc.Arbitrary<Reported> = fc.record({
  lifeMs: fc.oneof(fc.constant(0), fc.nat(200)),
  startMs: fc.oneof(fc.constant(0), fc.nat(250)),
  out: words,
  err: words,
  status: fc.constantFrom('success', 'partial', 'blocked', 'failed'),
  lineEnd: fc.boolean(),
  exitCode: fc.constantFrom(0, 0, 3),
  detached: fc.boolean(),
});

/** Prints its arguments, lives for a while in between, and never reads. */
const script = `printf %s "$1"; printf %s "$2" >&2; [ "$3" = 0 ] || sleep "$3"; printf %s "$4"; exit "$5"`;
const block = (lines: string[]): string => lines.map((line) => `${line}\n`).join('');
const resultOf = ({ status, lineEnd }: Reported): string =>
  JSON.stringify({ type: 'result', status, summary: 'As printed' }) + (lineEnd ? '\n' : '');

async function expectAllOf(agent: Reported): Promise<void> {
  const texts = [block(agent.out), block(agent.err), String(agent.lifeMs / 1_000), resultOf(agent)];
  const dispatch = await aDispatch(directory, script, { args: [...texts, String(agent.exitCode)] });
  const spoolDir = agent.detached ? { spoolDir: join(directory.path, 'agents', dispatch.attemptId) } : {};
  const sink = new SlowSink(agent.startMs);
  const outcome = await provider.run({ ...dispatch, ...spoolDir }, sink, new AbortController().signal);
  expect({ out: sink.text(), err: sink.text('stream.stderr') }).toEqual({ out: agent.out, err: agent.err });
  expect(outcome).toMatchObject({
    ended: 'exit',
    exitCode: agent.exitCode,
    result: { status: agent.status, summary: 'As printed' },
    output: { bytes: Buffer.byteLength(texts[0]! + texts[1]! + texts[3]!), truncated: false },
  });
}

/** Loads a core until it is ended. */
const load = () => spawn('/bin/sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' });

describe('the output of an agent', () => {
  it('is there to the last byte however short it lives, how many run beside it, and how busy the machine is', async () => {
    const busy = [load(), load()];
    try {
      const beside = fc.oneof(
        fc.array(reported, { minLength: 1, maxLength: 12 }),
        fc.array(reported, { minLength: 50, maxLength: 50 }),
      );
      await fc.assert(
        fc.asyncProperty(beside, async (agents) => {
          await Promise.all(agents.map(expectAllOf));
        }),
        { numRuns: 6, endOnFailure: true },
      );
    } finally {
      for (const each of busy) {
        each.kill('SIGKILL');
      }
    }
  });

  it('waits in the pipes of an agent whose start is still being recorded, also when it is more than they hold', async () => {
    const lines = 20_000;
    const dispatch = await aDispatch(
      directory,
      `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "line $i of many"; done; echo '{"type":"result","status":"failed"}'`,
      { outputLimitBytes: 100_000_000 },
    );
    const sink = new SlowSink(300);
    const outcome = await provider.run(dispatch, sink, never);
    expect(outcome).toMatchObject({ exitCode: 0, result: { status: 'failed' } });
    expect(sink.text()).toEqual(Array.from({ length: lines }, (_, index) => `line ${index + 1} of many`));
  });

  it('is there when this process was busy while the agent ended', async () => {
    const dispatch = await aDispatch(directory, `echo first; sleep 0.05; echo '{"type":"result","status":"failed"}'`);
    const sink = new SlowSink(0);
    const append = sink.append.bind(sink);
    sink.append = async (events) => {
      await append(events);
      // Longer than an empty pipe is waited for.
      const until = performance.now() + 600;
      while (performance.now() < until) {}
    };
    expect(await provider.run(dispatch, sink, never)).toMatchObject({ result: { status: 'failed' } });
  });

  it('ends when a process that escaped keeps it open, which is reported', async () => {
    const dispatch = await aDispatch(
      directory,
      'setsid env -i PATH="$PATH" sh -c "echo \\$\\$ > escaped; exec sleep 1000" & until [ -s escaped ]; do :; done; echo done',
    );
    const sink = new RecordingSink();
    const outcome = await provider.run(dispatch, sink, never);
    process.kill(Number(await readFile(`${dispatch.worktreePath}/escaped`, 'utf8')), 'SIGKILL');
    expect(outcome).toMatchObject({ ended: 'exit', exitCode: 0 });
    expect(sink.text()).toEqual(['done']);
    expect(sink.events.map(({ dedupeKey }) => dedupeKey)).toEqual(['stdout-5', 'stdout-left-open', 'stderr-left-open']);
    expect(sink.text('stream.stderr')).toEqual([
      'A process that outlived the agent still has its standard output open: what it writes is dropped.',
      'A process that outlived the agent still has its standard error open: what it writes is dropped.',
    ]);
  });

  it('of an agent that speaks another protocol is there as well', async () => {
    const dispatch = await aDispatch(directory, 'echo "no such model"; echo "set MODEL first" >&2; exit 2');
    const sink = new SlowSink(200);
    const outcome = await createAcpProvider().run(dispatch, sink, never);
    expect(outcome).toMatchObject({ exitCode: 2, result: { status: 'failed' } });
    expect([sink.text(), sink.text('stream.stderr')]).toEqual([['no such model'], ['set MODEL first']]);
  });

  it('has its last output reported as the reason of a failure, without secrets', async () => {
    const token = `ghp_${'Ab1'.repeat(12)}`;
    const dispatch = await aDispatch(
      directory,
      `seq 100 >&2; echo >&2; echo "Error: refused with ${token}" >&2; exit 4`,
      {
        outputLimitBytes: 2_000,
      },
    );
    const { lastWords, output } = await provider.run(dispatch, new RecordingSink(), never);
    expect(output.truncated).toBe(true);
    expect(lastWords).toBe('97\n98\n99\n100\nError: refused with [REDACTED]');
  });
});
