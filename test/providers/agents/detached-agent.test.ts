import { existsSync, readFileSync } from 'node:fs';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findByEnvironment, identify, isSameProcess, type ProcessIdentity } from '../../../platform/processes/identity';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { nothingRecorded, withEvents } from '../../../providers/agents/local/recorded-output';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';
import {
  AgentDetachedError,
  type AgentDispatch,
  AttemptMovedOnError,
  detachReason,
  type LiveAgent,
  type OrphanedAgent,
} from '../../../providers/agents/provider';
import { aDispatch, agentConfig, RecordingSink } from './agent-fixture';

const provider = createProcessProvider();
const never = new AbortController().signal;
let directory: TempDir;
let started: AgentDispatch[] = [];

beforeEach(async () => {
  directory = await makeTempDir('held');
});
afterEach(async () => {
  // Processes that a failed test has left: no worker ends these agents.
  for (const { attemptId } of started) {
    await provider.endOrphans(attemptId, undefined, 0);
  }
  started = [];
  await directory.remove();
});

/** A sink that can speak to its agent. */
class Listener extends RecordingSink {
  agent: LiveAgent | undefined;
  override async started(process: ProcessIdentity, agent?: LiveAgent): Promise<void> {
    await super.started(process);
    this.agent = agent;
  }
}

async function aHeld(script: string, changes: Parameters<typeof aDispatch>[2] = {}): Promise<AgentDispatch> {
  const dispatch = await aDispatch(directory, script, changes);
  const held = { ...dispatch, spoolDir: join(directory.path, 'agents', dispatch.attemptId) };
  started.push(held);
  return held;
}

/** Runs the agent until it has printed `until`, and detaches it as a worker does that is asked to end. */
async function leftAfter(dispatch: AgentDispatch, until: string): Promise<Listener> {
  const ending = new AbortController();
  const sink = new Listener();
  const run = provider.run(dispatch, sink, ending.signal);
  await eventually(() => expect(sink.text()).toContain(until));
  ending.abort(detachReason);
  await expect(run).rejects.toThrow(AgentDetachedError);
  return sink;
}

/** What a worker finds that has these events of an agent. */
const found = (sink: Listener, events = sink.events): OrphanedAgent => ({
  process: sink.process!,
  recorded: withEvents(nothingRecorded, events),
  ranMs: 1_000,
});

const reattach = (dispatch: AgentDispatch, was: OrphanedAgent, sink = new Listener(), signal = never) =>
  provider.reattach!({ dispatch, orphan: was }, sink, signal);

const nothingLeft = (dispatch: AgentDispatch) =>
  eventually(async () => expect(await findByEnvironment('BOARD_ATTEMPT_ID', dispatch.attemptId)).toEqual([]));

describe('an agent that may outlive its worker', () => {
  it('is given its task and judged like any other, with its streams readable by its own account alone', async () => {
    const dispatch = await aHeld(
      `read -r line; echo "$line"; cat "$BOARD_TASK_ENVELOPE"; echo; stat -c %a "${directory.path}"/agents/*/out; echo hint >&2
       echo '{"type":"result","status":"partial","summary":"some"}'; printf 'no line end'; exit 3`,
    );
    const sink = new Listener();
    const outcome = await provider.run(dispatch, sink, never);
    const json = JSON.stringify(dispatch.transport);
    expect(sink.text()).toEqual([json, json, '600', 'no line end']);
    expect(sink.text('stream.stderr')).toEqual(['hint']);
    expect(outcome).toMatchObject({ ended: 'exit', exitCode: 3, signal: null, result: { status: 'partial' } });
    expect(await readdir(dispatch.transportDir)).toEqual([]);
    await nothingLeft(dispatch);
  });

  it('has its signal reported, and its children ended', async () => {
    const dispatch = await aHeld('setsid sleep 1000 & kill -USR1 $$');
    expect(await provider.run(dispatch, new Listener(), never)).toMatchObject({ exitCode: null, signal: 'SIGUSR1' });
    await nothingLeft(dispatch);
  });

  it('is stopped with its whole group, and no other process with it', async () => {
    const dispatch = await aHeld('sleep 1000 & echo ready; wait');
    const stop = new AbortController();
    const sink = new Listener();
    const run = provider.run(dispatch, sink, stop.signal);
    await eventually(() => expect(sink.text()).toEqual(['ready']));
    stop.abort();
    expect(await run).toMatchObject({ ended: 'stopped', signal: 'SIGTERM' });
    await nothingLeft(dispatch);
    expect(await reattach(dispatch, found(sink))).toEqual({ refused: 'process-exited' });
  });

  const flood = `head -c 3000000 /dev/zero | tr '\\0' x | fold -w 99; echo; head -c 400000 /dev/zero | tr '\\0' '\\n' >&2
    echo '{"type":"result","status":"blocked","summary":"after a flood"}'; echo last >&2; exit 0`;
  const limited = { outputLimitBytes: 20_000 };
  /** Ten times the limit of the output, in whole blocks. */
  const stored = 199_680;

  it('may flood: what is beyond its spool is dropped and reported, and its result is read', async () => {
    const dispatch = await aHeld(flood, limited);
    const sink = new Listener();
    const outcome = await provider.run(dispatch, sink, never);
    expect(outcome).toMatchObject({ exitCode: 0, result: { status: 'blocked' }, output: { truncated: true } });
    expect(outcome.lastWords).toBe('last');
    expect(sink.events.map(({ dedupeKey }) => dedupeKey).slice(-3)).toEqual([
      'output-limit',
      'stdout-spool-limit',
      'stderr-spool-limit',
    ]);
    expect(sink.text('stream.stderr').at(-2)).toContain(`${stored} bytes`);
    await nothingLeft(dispatch);
  });

  it('may flood while no worker is there: its spool is bounded, it continues to its end, and that is found', async () => {
    const dispatch = await aHeld(`echo ready; until [ -e go ]; do sleep 0.02; done; ${flood}`, limited);
    const first = await leftAfter(dispatch, 'ready');
    await writeFile(join(dispatch.worktreePath, 'go'), '');
    await eventually(() => expect(existsSync(join(dispatch.spoolDir!, 'exit'))).toBe(true));
    await nothingLeft(dispatch);
    const sizes = await Promise.all(
      (await readdir(dispatch.spoolDir!)).map(async (name) => (await stat(join(dispatch.spoolDir!, name))).size),
    );
    expect(Math.max(...sizes)).toBe(stored);
    const second = new Listener();
    const outcome = await reattach(dispatch, found(first), second);
    expect(outcome).toMatchObject({ exitCode: 0, result: { status: 'blocked' } });
    expect(second.events.map(({ dedupeKey }) => dedupeKey)).toContain('stdout-spool-limit');
  });

  it('has what it started ended also when that holds its streams', async () => {
    const dispatch = await aHeld(`sh -c "trap '' TERM; while :; do sleep 0.05; done" & echo done`);
    const sink = new Listener();
    expect(await provider.run(dispatch, sink, never)).toMatchObject({ ended: 'exit', exitCode: 0 });
    expect(sink.text()).toEqual(['done']);
    await nothingLeft(dispatch);
  });

  it('knows when its agent does not read', async () => {
    const dispatch = await aHeld('exec <&-; echo closed; until [ -e go ]; do sleep 0.02; done');
    const first = await leftAfter(dispatch, 'closed');
    const sink = new Listener();
    const run = reattach(dispatch, found(first), sink);
    await eventually(() => expect(sink.agent).toBeDefined());
    expect(await sink.agent!.command({ type: 'steer', message: 'hello' })).toEqual({
      delivered: false,
      reason: 'agent-input-closed',
    });
    await writeFile(join(dispatch.worktreePath, 'go'), '');
    expect(await run).toMatchObject({ ended: 'exit', exitCode: 0 });
  });
});

describe('handed over to another worker', () => {
  it('it loses and repeats nothing, is spoken to as before, and is stopped as before', async () => {
    const dispatch = await aHeld(
      `read -r task; for n in 1 2 3 4 5; do echo "out $n"; echo "err $n" >&2; done; echo ready
       while read -r line; do echo "heard $line"; echo "after" >&2; done`,
    );
    const first = await leftAfter(dispatch, 'ready');
    expect(await isSameProcess(first.process!)).toBe(true);
    expect(existsSync(join(dispatch.transportDir, `${dispatch.attemptId}.json`))).toBe(true);

    const stop = new AbortController();
    const second = new Listener();
    // Of what the first one had appended, a part: the rest is published again, in the same words under the same ids.
    const kept = first.events.slice(0, 4);
    const run = reattach(dispatch, found(first, kept), second, stop.signal);
    await eventually(() => expect(second.agent).toBeDefined());
    expect(await second.agent!.command({ type: 'steer', message: 'on' })).toEqual({ delivered: true });
    await eventually(() => expect(second.text()).toContain('heard {"type":"steer","message":"on"}'));
    const all = [...kept, ...second.events];
    const textOf = (kind: string) => all.filter((event) => event.kind === kind).map(({ payload }) => payload.text);
    expect(textOf('stream.stdout').slice(0, 6)).toEqual(['out 1', 'out 2', 'out 3', 'out 4', 'out 5', 'ready']);
    await eventually(() => expect(second.text('stream.stderr')).toContain('after'));
    const errors = [...kept, ...second.events].filter(({ kind }) => kind === 'stream.stderr');
    expect(errors.map(({ payload }) => payload.text)).toEqual(['err 1', 'err 2', 'err 3', 'err 4', 'err 5', 'after']);
    const retold = second.events.filter(({ dedupeKey }) => first.events.some((event) => event.dedupeKey === dedupeKey));
    expect(kept.length + retold.length).toBe(first.events.length);

    stop.abort();
    expect(await run).toMatchObject({ ended: 'stopped' });
    await nothingLeft(dispatch);
  });

  it('it may have ended while no worker watched, and has the end that it reported', async () => {
    const dispatch = await aHeld(
      `echo ready; until [ -e go ]; do sleep 0.02; done; head -c 3000000 /dev/zero | tr '\\0' x; echo
       echo last; echo '{"type":"result","status":"success","summary":"all"}'`,
    );
    const first = await leftAfter(dispatch, 'ready');
    await writeFile(join(dispatch.worktreePath, 'go'), '');
    await eventually(() => expect(readFileSync(join(dispatch.spoolDir!, 'exit'), 'utf8')).toMatch(/^0\n/));
    await nothingLeft(dispatch);
    const second = new Listener();
    // Its time would be long over.
    const outcome = await reattach(dispatch, { ...found(first), ranMs: 100_000 }, second);
    expect(outcome).toMatchObject({ ended: 'exit', exitCode: 0, result: { status: 'success', summary: 'all' } });
    expect(second.text()).toEqual([expect.stringMatching(/^xxx/), 'last']);
    expect(await readdir(dispatch.transportDir)).toEqual([]);
  });

  it('its time counts from its start', async () => {
    const dispatch = await aHeld('echo ready; sleep 1000');
    const first = await leftAfter(dispatch, 'ready');
    expect(await reattach(dispatch, { ...found(first), ranMs: dispatch.timeoutMs })).toMatchObject({
      ended: 'timeout',
    });
    await nothingLeft(dispatch);
  });

  it('a result from before still counts, and a limit that was reached stays reached', async () => {
    const dispatch = await aHeld(
      `echo '{"type":"result","status":"success","summary":"early"}'; for n in $(seq 200); do echo "line $n"; done
       echo done >&2; until [ -e go ]; do sleep 0.02; done; echo late`,
      { outputLimitBytes: 20_000 },
    );
    const ending = new AbortController();
    const first = new Listener();
    const run = provider.run(dispatch, first, ending.signal);
    await eventually(() => expect(first.text('stream.stderr').at(-1)).toMatch(/limit/));
    ending.abort(detachReason);
    await expect(run).rejects.toThrow(AgentDetachedError);
    const second = new Listener();
    const going = reattach(dispatch, found(first), second);
    await writeFile(join(dispatch.worktreePath, 'go'), '');
    expect(await going).toMatchObject({ result: { summary: 'early' }, output: { truncated: true } });
    expect(second.events).toEqual([]);
  });

  it('a question is asked again until it is answered, and then no more', async () => {
    const dispatch = await aHeld(
      `read -r task; echo '{"type":"approval","id":"q1","action":"push","actionClass":"network"}'; echo asked
       read -r answer; echo "got $answer"; read -r line; echo "got $line"`,
    );
    const asked: string[] = [];
    class Decider extends Listener {
      constructor(private readonly answers: boolean) {
        super();
      }
      async decide({ requestId }: { requestId: string }, signal: AbortSignal) {
        asked.push(requestId);
        if (!this.answers) {
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('over'))));
        }
        return { decision: 'approved' as const, decidedBy: 'ann' };
      }
    }
    const leave = async (
      go: (sink: Listener, signal: AbortSignal) => Promise<unknown>,
      answers: boolean,
      until: RegExp,
    ) => {
      const ending = new AbortController();
      const sink = new Decider(answers);
      const run = go(sink, ending.signal);
      await eventually(() => expect(sink.text().join('\n')).toMatch(until));
      ending.abort(detachReason);
      await expect(run).rejects.toThrow(AgentDetachedError);
      return sink;
    };
    const first = await leave((sink, signal) => provider.run(dispatch, sink, signal), false, /asked/);
    const second = await leave((sink, signal) => reattach(dispatch, found(first), sink, signal), true, /approved/);
    expect(asked).toEqual(['q1', 'q1']);
    const third = new Decider(true);
    const events = [...first.events, ...second.events];
    const run = reattach(dispatch, found(first, events), third);
    await eventually(() => expect(third.agent).toBeDefined());
    await third.agent!.command({ type: 'message', message: 'end' });
    expect(await run).toMatchObject({ ended: 'exit', exitCode: 0 });
    expect(asked).toEqual(['q1', 'q1']);
    expect(third.text()).toEqual(['got {"type":"message","message":"end"}']);
  });
});

describe('taken over while its worker was asleep', () => {
  it('is not ended by that worker, for whatever reason', async () => {
    const script = 'read -r task; echo ready; while read -r line; do echo "heard $line"; done';
    let isCurrent = true;
    const dispatch = await aHeld(script, { timeoutMs: 2_000, isCurrent: () => Promise.resolve(isCurrent) });
    const first = new Listener();
    const stop = new AbortController();
    const late = provider.run(dispatch, first, stop.signal);
    await eventually(() => expect(first.text()).toContain('ready'));
    isCurrent = false;
    const stopSecond = new AbortController();
    const second = new Listener();
    const taken = { ...dispatch, timeoutMs: 30_000, isCurrent: () => Promise.resolve(true) };
    const run = reattach(taken, found(first), second, stopSecond.signal);
    await eventually(() => expect(second.agent).toBeDefined());

    stop.abort();
    await expect(late).rejects.toThrow(AgentDetachedError);
    expect(await isSameProcess(first.process!)).toBe(true);
    expect(await second.agent!.command({ type: 'steer', message: 'on' })).toEqual({ delivered: true });
    await eventually(() => expect(second.text()).toContain('heard {"type":"steer","message":"on"}'));
    stopSecond.abort();
    expect(await run).toMatchObject({ ended: 'stopped' });
  });

  it('is not started any more', async () => {
    const dispatch = await aHeld('echo started >"$1"', {
      args: [join(directory.path, 'started')],
      isCurrent: () => Promise.resolve(false),
    });
    await expect(provider.run(dispatch, new Listener(), never)).rejects.toThrow(AttemptMovedOnError);
    const { spoolDir: _pipes, ...piped } = dispatch;
    await expect(provider.run(piped, new Listener(), never)).rejects.toThrow(AttemptMovedOnError);
    expect(existsSync(join(directory.path, 'started'))).toBe(false);
    expect(await readdir(dispatch.transportDir)).toEqual([]);
  });
});

describe('is not resumed', () => {
  it('when it is another process, or gone without a word', async () => {
    const dispatch = await aHeld('echo ready; sleep 1000');
    const first = await leftAfter(dispatch, 'ready');
    const was = found(first);
    const as = (process: Partial<ProcessIdentity>) =>
      reattach(dispatch, { ...was, process: { ...was.process, ...process } });
    expect(await as({ startTime: '1' })).toEqual({ refused: 'process-identity-mismatch' });
    expect(await as({ bootId: 'before' })).toEqual({ refused: 'process-not-found' });
    expect(await as((await identify(process.pid))!)).toEqual({ refused: 'process-identity-mismatch' });
    process.kill(-was.process.pid, 'SIGKILL');
    await eventually(async () => expect(await isSameProcess(was.process)).toBe(false));
    expect(await reattach(dispatch, was)).toEqual({ refused: 'process-not-found' });
  });

  it('with another task, other secrets, half a line, or without its streams', async () => {
    const secretive = createProcessProvider({ environment: { ...process.env, KEY: 'one secret' } });
    const dispatch = await aHeld('echo ready; sleep 1000');
    const agent = agentConfig(dispatch.agent.command!, dispatch.agent.args, ['KEY']);
    const ending = new AbortController();
    const sink = new Listener();
    const held = { ...dispatch, agent, spoolDir: dispatch.spoolDir! };
    const run = secretive.run(held, sink, ending.signal);
    await eventually(() => expect(sink.text()).toEqual(['ready']));
    await eventually(() => expect(existsSync(join(held.spoolDir, 'torn'))).toBe(false));
    ending.abort(detachReason);
    await expect(run).rejects.toThrow(AgentDetachedError);

    expect(await reattach(held, found(sink))).toEqual({ refused: 'binding-mismatch' });
    const changed = { ...held, transport: { ...held.transport, attemptId: 'attempt_other0000000' } };
    expect(await secretive.reattach!({ dispatch: changed, orphan: found(sink) }, new Listener(), never)).toEqual({
      refused: 'binding-mismatch',
    });
    await writeFile(join(held.spoolDir, 'torn'), '');
    expect(await secretive.reattach!({ dispatch: held, orphan: found(sink) }, new Listener(), never)).toEqual({
      refused: 'in-process-state-lost',
    });
    const elsewhere = { ...held, spoolDir: join(directory.path, 'nowhere') };
    expect(await secretive.reattach!({ dispatch: elsewhere, orphan: found(sink) }, new Listener(), never)).toEqual({
      refused: 'supervisor-record-missing',
    });
    expect((await stat(join(held.spoolDir, 'out'))).size).toBeGreaterThan(0);
    expect(readFileSync(join(held.spoolDir, 'binding'), 'utf8')).not.toContain('secret');
    await provider.endOrphans(held.attemptId, sink.process, 100);
    await nothingLeft(held);
  });
});
