import { setImmediate as turn } from 'node:timers/promises';
import { hideOwnSecrets } from '../../../platform/log/own-secrets';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';
import type { AgentQuestion, AgentResponse } from '../../../providers/agents/question';
import { aDispatch, agentConfig, RecordingSink } from './agent-fixture';

const provider = createProcessProvider();
const never = new AbortController().signal;
let directory: TempDir;

beforeEach(async () => {
  directory = await makeTempDir('agent-limits');
});
afterEach(() => directory.remove());

describe('the output of an agent', () => {
  it('is bounded: what comes after the limit is counted and dropped, but its result is read', async () => {
    const dispatch = await aDispatch(
      directory,
      `yes 'a line of output that says nothing new' | head -c 5000000; echo; echo '{"type":"progress","message":"late"}'; echo '{"type":"result","status":"success","summary":"still here"}'`,
      { outputLimitBytes: 100_000 },
    );
    const sink = new RecordingSink();
    const outcome = await provider.run(dispatch, sink, never);

    expect(outcome.output).toMatchObject({ truncated: true });
    expect(outcome.output.bytes).toBeGreaterThan(5_000_000);
    expect(outcome.output.persistedBytes).toBeLessThanOrEqual(100_000);
    expect(outcome.result).toEqual({ status: 'success', summary: 'still here' });
    const notices = sink.text('stream.stderr');
    expect(notices).toEqual([expect.stringMatching(/Output limit of 100000 bytes reached/)]);
    expect(sink.events.at(-1)?.payload.text).toBe(notices[0]);
    expect(new Set(sink.events.map((event) => event.dedupeKey)).size).toBe(sink.events.length);
  });

  it('may be one endless line without costing memory', async () => {
    const dispatch = await aDispatch(directory, `head -c 104857600 /dev/zero | tr '\\0' x; echo; echo after`);
    const sink = new RecordingSink();
    let peak = 0;
    const before = process.memoryUsage().rss;
    const watching = new AbortController();
    const watch = (async () => {
      while (!watching.signal.aborted) {
        peak = Math.max(peak, process.memoryUsage().rss - before);
        await turn();
      }
    })();
    const outcome = await provider.run(dispatch, sink, never);
    watching.abort();
    await watch;

    expect(outcome.output.bytes).toBe(104_857_600 + 1 + 'after\n'.length);
    expect(sink.text()).toEqual(['x'.repeat(8_192), 'after']);
    expect(sink.events[0]?.redaction).toMatchObject({
      status: 'redacted',
      fields: ['text'],
      originalBytes: 104_857_601,
    });
    expect(peak).toBeLessThan(64 * 1_048_576);
  });

  it('may hold lines that are too deep or too much: each is refused with a reason, counted, and the agent works on', async () => {
    const lines = (): void => {
      const nested = (open: string, close: string) => `${open.repeat(100_000)}1${close.repeat(100_000)}`;
      const approval = '"type":"approval","actionClass":"tool"';
      process.stdout.write(
        [
          `{${approval},"action":"a","details":${nested('[', ']')}}`,
          `{${approval},"action":"a","details":{"b":${nested('[', ']')}}}`,
          `{"type":"progress","message":"m","x":${nested('{"a":', '}')}}`,
          `{"type":"progress","message":"m","${'k'.repeat(100_000)}":1}`,
          `{"type":"message","text":"m","l":[${'1,'.repeat(100_000)}1]}`,
          '{"type":"tool","name":"t","status":"done","__proto__":{"polluted":1}}',
          '{"type":"tokens","inputTokens":1e999,"outputTokens":1}',
          '{"type":"message","text":"half \\ud800","n":-1e999}',
          `{${approval},"action":"half \\udfff","details":{"n":1e999}}`,
          '',
        ].join('\n'),
      );
    };
    const agent = agentConfig(process.execPath, ['-e', `(${lines.toString()})()`]);
    const dispatch = await aDispatch(directory, '', { agent, outputLimitBytes: 10_000_000 });
    const asked: AgentQuestion[] = [];
    const sink = new RecordingSink();
    const deciding = Object.assign(sink, {
      decide: async (question: AgentQuestion): Promise<AgentResponse> => {
        asked.push(question);
        return { decision: 'approved', decidedBy: 'test' };
      },
    });
    const outcome = await provider.run(dispatch, deciding, never);
    expect(outcome).toMatchObject({ ended: 'exit', exitCode: 0, output: { refusedLines: 6 } });
    const refused = sink.events.filter(
      ({ kind, payload }) => kind === 'stream.stdout' && payload.problem !== undefined,
    );
    expect(refused.map(({ payload }) => payload.problem)).toEqual([
      ...Array.from({ length: 3 }, () => 'It is nested more than 64 levels deep.'),
      'It has a field with a name of more than 1024 characters.',
      expect.stringContaining('values'),
      'It has a field with the name __proto__.',
    ]);
    // What can be stored of a strange line is stored: numbers beyond all numbers are none, halves of characters are marked.
    expect(sink.kinds().filter((kind) => kind !== 'stream.stdout')).toEqual(['provider.unknown', 'message.assistant']);
    expect(sink.events.at(-1)?.payload).toEqual({ text: 'half \ufffd', n: null });
    expect(asked).toEqual([expect.objectContaining({ action: 'half \ufffd', details: { n: null } })]);
  });

  it('counts as a failed result when the result is a line that is refused', async () => {
    const dispatch = await aDispatch(
      directory,
      `printf '{"type":"result","status":"success","summary":"s","x":'; head -c 500 /dev/zero | tr '\\0' '['; echo`,
    );
    const outcome = await provider.run(dispatch, new RecordingSink(), never);
    expect(outcome).toMatchObject({ result: { status: 'failed' }, output: { refusedLines: 1 } });
  });

  it('slows the agent down to a slow sink, without losing or reordering anything', async () => {
    const lines = 3_000;
    const dispatch = await aDispatch(directory, `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo $i; done`, {
      outputLimitBytes: 10_000_000,
    });
    const sink = new RecordingSink();
    const append = sink.append.bind(sink);
    let appending = 0;
    sink.append = async (events) => {
      appending += 1;
      expect(appending).toBe(1);
      for (let turns = 0; turns < 50; turns += 1) {
        await turn();
      }
      await append(events);
      appending -= 1;
    };
    await provider.run(dispatch, sink, never);
    expect(sink.text()).toEqual(Array.from({ length: lines }, (_, index) => String(index + 1)));
    expect(Math.max(...sink.batches)).toBeLessThanOrEqual(256);
  });

  it('may be garbage', async () => {
    const dispatch = await aDispatch(
      directory,
      `printf '\\377\\376 not utf-8\\n{"type":\\n{"type":5}\\n[1,2]\\nnull\\n{"type":"tokens","inputTokens":-1}\\n\\n{"type":"__proto__"}\\nlast line without end'; head -c 200000 /dev/urandom >&2`,
    );
    const sink = new RecordingSink();
    const outcome = await provider.run(dispatch, sink, never);
    expect(outcome).toMatchObject({ ended: 'exit', exitCode: 0 });
    expect(sink.text()).toEqual([
      '\ufffd\ufffd not utf-8',
      '{"type":',
      '{"type":5}',
      '[1,2]',
      'null',
      '',
      'last line without end',
    ]);
    expect(sink.kinds().filter((kind) => kind === 'provider.unknown')).toHaveLength(2);
  });

  it('holds no secrets of the service, in events, artifacts, questions and the result', async () => {
    const secret = 'the-password-of-the-database';
    hideOwnSecrets([secret]);
    const dispatch = await aDispatch(
      directory,
      `echo "found ${secret}"; echo "found ${secret}" >&2; echo "${secret}" > leak.txt
       echo '{"type":"artifact","path":"leak.txt"}'
       echo '{"type":"approval","action":"send ${secret}","actionClass":"tool","details":{"${secret}":"${secret}"}}'
       echo '{"type":"result","status":"success","summary":"${secret}"}'`,
    );
    const asked: AgentQuestion[] = [];
    const sink = Object.assign(new RecordingSink(), {
      decide: async (question: AgentQuestion): Promise<AgentResponse> => {
        asked.push(question);
        return { decision: 'rejected', decidedBy: 'test' };
      },
    });
    const outcome = await provider.run(dispatch, sink, never);
    expect(outcome.result).toEqual({ status: 'success', summary: '[REDACTED]' });
    expect(asked).toEqual([expect.objectContaining({ action: 'send [REDACTED]' })]);
    expect(sink.events.find(({ captured }) => captured)?.captured?.body.toString()).toBe('[REDACTED]\n');
    expect(JSON.stringify([sink.events, asked, outcome])).not.toContain(secret);
  });

  it('holds no secrets: known values and shapes, also in JSON and across the cut of a long line', async () => {
    const withSecret = createProcessProvider({
      environment: { PATH: process.env.PATH, MODEL_KEY: 'correct-horse-"battery"' },
    });
    const dispatch = await aDispatch(
      directory,
      `echo "key=$MODEL_KEY"
       echo '{"type":"progress","message":"using correct-horse-\\"battery\\" now"}'
       echo '{"type":"result","status":"success","summary":"used correct-horse-\\"battery\\""}'
       printf '%08180d' 0; printf '%s' "$MODEL_KEY"; printf '%09000d\\n' 0`,
    );
    dispatch.agent.environmentKeys = ['MODEL_KEY'];
    const sink = new RecordingSink();
    const outcome = await withSecret.run(dispatch, sink, never);
    const everything = JSON.stringify([sink.events, outcome]);
    expect(everything).not.toContain('correct-horse');
    expect(outcome.result?.summary).toBe('used [REDACTED]');
    expect(sink.events[0]?.redaction?.status).toBe('redacted');
  });

  it('reaches the sink soon, not at the end', async () => {
    const dispatch = await aDispatch(directory, 'echo first; until [ -e seen ]; do sleep 0.01; done');
    const sink = new RecordingSink();
    sink.append = async (events) => {
      sink.events.push(...events);
      const { writeFile } = await import('node:fs/promises');
      await writeFile(`${dispatch.worktreePath}/seen`, '');
    };
    expect(await provider.run(dispatch, sink, never)).toMatchObject({ ended: 'exit', exitCode: 0 });
    expect(sink.text()).toEqual(['first']);
  });
});
