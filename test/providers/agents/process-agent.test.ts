import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identify, isSameProcess } from '../../../platform/processes/identity';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';
import { aDispatch, agentConfig, RecordingSink } from './agent-fixture';

const provider = createProcessProvider();
const never = new AbortController().signal;
let directory: TempDir;

beforeEach(async () => {
  directory = await makeTempDir('agent');
});
afterEach(() => directory.remove());

describe('a process agent', () => {
  it('gets its task on standard input and as a private file, in its worktree', async () => {
    const dispatch = await aDispatch(
      directory,
      `read -r line; echo "$line"; cat "$BOARD_TASK_ENVELOPE"; echo; stat -c %a "$BOARD_TASK_ENVELOPE"; pwd; echo "$BOARD_TASK_ID $BOARD_ATTEMPT_ID"`,
    );
    const sink = new RecordingSink();
    const outcome = await provider.run(dispatch, sink, never);

    const json = JSON.stringify(dispatch.transport);
    expect(sink.text()).toEqual([json, json, '600', dispatch.worktreePath, `${dispatch.taskId} ${dispatch.attemptId}`]);
    expect(outcome).toMatchObject({ ended: 'exit', exitCode: 0, signal: null });
    expect(await readdir(dispatch.transportDir)).toEqual([]);
  });

  it('reports events, text and its result', async () => {
    const dispatch = await aDispatch(
      directory,
      `echo '{"type":"progress","message":"reading","percent":10}'
       echo '{"type":"message","text":"hello"}'
       echo '{"type":"tokens","model":"m","inputTokens":1,"outputTokens":2}'
       echo '{"type":"tool","name":"test","status":"started"}'
       echo '{"type":"tool","name":"test","status":"completed"}'
       echo '{"type":"file","path":"a.js","status":"added"}'
       echo '{"type":"artifact","path":"a.log"}'
       echo '{"type":"approval","action":"push","actionClass":"external-write"}'
       echo '{"type":"dance"}'
       echo 'plain text'
       echo '{"type":"result","status":"success","summary":"done","evidence":[{"id":"e1","kind":"commit"}]}'
       exit 3`,
    );
    const sink = new RecordingSink();
    const outcome = await provider.run(dispatch, sink, never);

    expect(sink.kinds()).toEqual([
      'progress',
      'message.assistant',
      'usage.updated',
      'tool.started',
      'tool.completed',
      'file.changed',
      'artifact.created',
      'approval.requested',
      'provider.unknown',
      'stream.stdout',
      'progress',
    ]);
    expect(sink.events[0]?.payload).toEqual({ message: 'reading', percent: 10 });
    expect(outcome).toMatchObject({
      ended: 'exit',
      exitCode: 3,
      result: { status: 'success', summary: 'done', evidence: [{ id: 'e1', kind: 'commit' }] },
    });
  });

  it('never passes off a result that cannot be understood as success', async () => {
    const dispatch = await aDispatch(directory, `echo '{"type":"result","status":"great","summary":"all good"}'`);
    const outcome = await provider.run(dispatch, new RecordingSink(), never);
    expect(outcome.result).toEqual({ status: 'failed', summary: 'all good' });
    expect(outcome.error).toMatch(/status/);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['evidence', { evidence: Array.from({ length: 129 }, (_, id) => ({ id: `e${id}`, kind: 'commit' })) }, 'done'],
    ['artifacts.0.reference', { artifacts: [{ name: 'a' }] }, 'done'],
    ['blockers.0.summary', { blockers: [{ code: 'x' }] }, 'done'],
    ['summary', { summary: 5 }, ''],
    ['summary', { summary: 'x'.repeat(20_001) }, 'x'.repeat(20_000)],
  ])('fails a success whose %s is not valid, and keeps its other fields', async (field, wrong, kept) => {
    const verification = [{ gateId: 'tests', status: 'failed' }];
    const line = JSON.stringify({ type: 'result', status: 'success', summary: 'done', verification, ...wrong });
    const file = join(directory.path, 'result.json');
    await writeFile(file, line);
    const outcome = await provider.run(await aDispatch(directory, `cat ${file}`), new RecordingSink(), never);
    expect(outcome.result).toEqual({ status: 'failed', summary: kept, verification });
    expect(outcome.error).toContain(`(${field}: `);
  });

  it('fails a success with a verification of an unknown status, and keeps another status', async () => {
    const verification = [{ gateId: 'tests', status: 'broken' }];
    const outcomes = ['success', 'partial'].map(async (status) => {
      const line = JSON.stringify({ type: 'result', status, verification });
      return provider.run(await aDispatch(directory, `echo '${line}'`), new RecordingSink(), never);
    });
    const results = (await Promise.all(outcomes)).map(({ result }) => result);
    expect(results).toEqual([
      { status: 'failed', summary: '' },
      { status: 'partial', summary: '' },
    ]);
  });

  it('sees the variables it was allowed and none of the service', async () => {
    const withSecrets = createProcessProvider({
      environment: {
        PATH: process.env.PATH,
        HOME: '/home/agent',
        BOARD_ADMIN_KEY: 'admin-key-value',
        MONGODB_URL: 'mongodb://user:pass@db/',
        TEMPORAL_ADDRESS: 'temporal:7233',
        NODE_OPTIONS: '--inspect',
        MODEL_KEY: 'model-key-value',
        OTHER_KEY: 'other-key-value',
      },
    });
    const dispatch = await aDispatch(
      directory,
      'env | cut -d= -f1 | sort; echo "key: $MODEL_KEY"; echo "$MODEL_KEY" >&2',
    );
    dispatch.agent.environmentKeys = ['MODEL_KEY', 'ABSENT_KEY'];
    const sink = new RecordingSink();
    await withSecrets.run(dispatch, sink, never);

    const names = sink.text().filter((line) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(String(line)));
    const own = ['BOARD_ATTEMPT_ID', 'BOARD_TASK_ENVELOPE', 'BOARD_TASK_ID'];
    expect(names).toEqual([...own, 'HOME', 'MODEL_KEY', 'PATH', 'TERM', 'key: [REDACTED]']);
    expect(sink.text('stream.stderr')).toEqual(['[REDACTED]']);
  });

  it.each(['MONGODB_URL', 'BOARD_ADMIN_KEY', 'NODE_OPTIONS', 'GIT_SSH_COMMAND'])(
    'is not started, nor found to be there, with %s',
    async (name) => {
      const given = createProcessProvider({
        environment: { PATH: process.env.PATH, [name]: 'a value of the service' },
      });
      const dispatch = await aDispatch(directory, 'env');
      dispatch.agent.environmentKeys = [name];
      const outcome = await given.run(dispatch, new RecordingSink(), never);
      expect(outcome).toMatchObject({ ended: 'spawn-failed', error: expect.stringContaining(`variable ${name}`) });
      expect(await given.probe(dispatch.agent)).toMatchObject({ ok: false });
    },
  );

  it('is reported before it is sent anything', async () => {
    const dispatch = await aDispatch(directory, 'echo early; read -r line; echo late');
    const sink = new RecordingSink();
    const started = sink.started.bind(sink);
    let seenAtStart: boolean | undefined;
    sink.started = async (identity) => {
      seenAtStart = await isSameProcess(identity);
      expect(sink.events).toEqual([]);
      await started(identity);
    };
    await provider.run(dispatch, sink, never);
    expect(seenAtStart).toBe(true);
    expect(sink.text()).toEqual(['early', 'late']);
    expect(await isSameProcess(sink.process!)).toBe(false);
  });

  it('may ignore its input', async () => {
    const dispatch = await aDispatch(directory, 'exec <&-; echo no input', {
      transport: { text: 'x'.repeat(1_000_000) },
    });
    const sink = new RecordingSink();
    expect(await provider.run(dispatch, sink, never)).toMatchObject({ ended: 'exit', exitCode: 0 });
    expect(sink.text()).toEqual(['no input']);
  });
});

describe('an agent that cannot be started', () => {
  it.each([
    ['an unknown name', 'no-such-agent-here', /not found on the PATH/],
    ['an unknown path', '/no/such/agent', /does not exist/],
    ['a relative path', './agent.sh', /absolute path/],
    ['a directory', '/tmp', /not a file/],
  ])('reports why: %s', async (_, command, message) => {
    const dispatch = await aDispatch(directory, '');
    dispatch.agent = agentConfig(command, []);
    const outcome = await provider.run(dispatch, new RecordingSink(), never);
    expect(outcome).toMatchObject({ ended: 'spawn-failed', exitCode: null, error: expect.stringMatching(message) });
    expect(await provider.probe(dispatch.agent)).toMatchObject({
      ok: false,
      diagnostics: [expect.stringMatching(message)],
    });
  });

  it('reports why: not executable, and an interpreter that is missing', async () => {
    const path = `${directory.path}/agent`;
    await writeFile(path, '#!/no/such/interpreter\n');
    const dispatch = await aDispatch(directory, '');
    dispatch.agent = agentConfig(path, []);
    expect(await provider.run(dispatch, new RecordingSink(), never)).toMatchObject({
      ended: 'spawn-failed',
      error: expect.stringMatching(/not executable/),
    });
    await chmod(path, 0o755);
    expect(await provider.run(dispatch, new RecordingSink(), never)).toMatchObject({
      ended: 'spawn-failed',
      error: expect.stringMatching(/could not be started/),
    });
    expect(await readdir(dispatch.transportDir)).toEqual([]);
  });

  it('reports why: no worktree', async () => {
    const dispatch = await aDispatch(directory, '', { worktreePath: `${directory.path}/nowhere` });
    const outcome = await provider.run(dispatch, new RecordingSink(), never);
    expect(outcome).toMatchObject({ ended: 'spawn-failed', error: expect.stringMatching(/worktree/) });
  });

  it('is not started when the run was stopped before', async () => {
    const dispatch = await aDispatch(directory, 'touch started');
    const outcome = await provider.run(dispatch, new RecordingSink(), AbortSignal.abort());
    expect(outcome).toMatchObject({ ended: 'stopped', exitCode: null });
    await expect(stat(`${dispatch.worktreePath}/started`)).rejects.toThrow();
  });
});

describe('probing', () => {
  it('finds the executable and names missing variables', async () => {
    const probe = await provider.probe(agentConfig('sh', [], ['NO_SUCH_VARIABLE_HERE']));
    expect(probe).toEqual({
      ok: true,
      diagnostics: [expect.stringMatching(/^Found \/.*sh\.$/), expect.stringMatching(/NO_SUCH_VARIABLE_HERE/)],
    });
  });
});

describe('the version of an agent', () => {
  const versionOf = async (script: string, environmentKeys: string[] = []) =>
    provider.probe({ ...agentConfig('sh', [], environmentKeys), versionArgs: ['-c', script] });

  it('is the first line it prints when it is asked', async () => {
    expect(await versionOf('echo; echo " agent 1.2.3 "; echo more')).toMatchObject({
      ok: true,
      version: 'agent 1.2.3',
    });
    expect(await versionOf('echo "agent 2" >&2; exit 3')).toMatchObject({ ok: true, version: 'agent 2' });
  });

  it('is at most 200 characters, without the secrets it was given', async () => {
    process.env.AGENT_TEST_SECRET = 'a-secret-of-this-test';
    try {
      const { version } = await versionOf('printf "%s " "$AGENT_TEST_SECRET"; yes | head -c 5000', [
        'AGENT_TEST_SECRET',
      ]);
      expect(version).not.toContain('a-secret-of-this-test');
      expect(version?.length).toBeLessThanOrEqual(200);
    } finally {
      delete process.env.AGENT_TEST_SECRET;
    }
  });

  it('is a note when the agent does not report it, and what it left behind ends', async () => {
    const left = `${directory.path}/left`;
    const probe = await versionOf(`sleep 1000 & echo $! > ${left}`);
    expect(probe).toMatchObject({
      ok: true,
      diagnostics: [expect.anything(), expect.stringMatching(/reported no version/)],
    });
    expect(probe).not.toHaveProperty('version');
    expect(await identify(Number(await readFile(left, 'utf8')))).toBeUndefined();
  });
});

describe('ending an agent', () => {
  const gone = (sink: RecordingSink) => isSameProcess(sink.process!).then((alive) => expect(alive).toBe(false));

  it('stops it on request, with the whole group', async () => {
    const stop = new AbortController();
    const dispatch = await aDispatch(directory, 'sleep 1000 & echo "child $!"; wait');
    const sink = new RecordingSink();
    const run = provider.run(dispatch, sink, stop.signal);
    await eventually(() => expect(sink.text()).toHaveLength(1));
    stop.abort();
    expect(await run).toMatchObject({ ended: 'stopped', exitCode: null, signal: 'SIGTERM' });
    await gone(sink);
    const child = Number(String(sink.text()[0]).split(' ')[1]);
    expect(await identify(child)).toBeUndefined();
  });

  it('lets it finish in its own way within the grace', async () => {
    const stop = new AbortController();
    const dispatch = await aDispatch(
      directory,
      `trap 'echo "{\\"type\\":\\"result\\",\\"status\\":\\"partial\\",\\"summary\\":\\"stopped\\"}"; exit 0' TERM; echo ready; while :; do sleep 0.05; done`,
      { stopGraceMs: 10_000 },
    );
    const sink = new RecordingSink();
    const run = provider.run(dispatch, sink, stop.signal);
    await eventually(() => expect(sink.text()).toEqual(['ready']));
    stop.abort();
    expect(await run).toMatchObject({ ended: 'stopped', exitCode: 0, result: { status: 'partial' } });
  });

  it('kills one that ignores the request', async () => {
    const stop = new AbortController();
    const dispatch = await aDispatch(directory, `trap '' TERM; echo ready; while :; do sleep 0.05; done`);
    const sink = new RecordingSink();
    const run = provider.run(dispatch, sink, stop.signal);
    await eventually(() => expect(sink.text()).toEqual(['ready']));
    const before = performance.now();
    stop.abort();
    expect(await run).toMatchObject({ ended: 'stopped', signal: 'SIGKILL' });
    // Timers count from the beginning of a turn: this may be a little less than the grace.
    expect(performance.now() - before).toBeGreaterThan(dispatch.stopGraceMs / 2);
    await gone(sink);
  });

  it('ends one that takes too long', async () => {
    const dispatch = await aDispatch(directory, 'sleep 1000', { timeoutMs: 100 });
    const sink = new RecordingSink();
    expect(await provider.run(dispatch, sink, never)).toMatchObject({ ended: 'timeout', signal: 'SIGTERM' });
    await gone(sink);
  });

  it('does not wait for children that hold its pipes: in its group', async () => {
    const dispatch = await aDispatch(directory, 'sleep 1000 & echo done');
    const sink = new RecordingSink();
    const outcome = await provider.run(dispatch, sink, never);
    expect(outcome).toMatchObject({ ended: 'exit', exitCode: 0 });
    expect(sink.text()).toEqual(['done']);
  });

  it('ends children that left its group', async () => {
    const dispatch = await aDispatch(
      directory,
      'setsid sh -c "echo \\$\\$ > child; exec sleep 1000" & until [ -s child ]; do :; done',
    );
    const sink = new RecordingSink();
    await provider.run(dispatch, sink, never);
    const child = Number(await readFile(`${dispatch.worktreePath}/child`, 'utf8'));
    expect(await identify(child)).toBeUndefined();
  });

  it('does not wait for a process that got away with its pipes', async () => {
    // Neither in its group nor with its environment: only its output pipe is left of the agent.
    const dispatch = await aDispatch(
      directory,
      'setsid env -i PATH="$PATH" sh -c "echo \\$\\$ > escaped; exec sleep 1000" & until [ -s escaped ]; do :; done; echo done',
    );
    const sink = new RecordingSink();
    const outcome = await provider.run(dispatch, sink, never);
    expect(outcome).toMatchObject({ ended: 'exit', exitCode: 0 });
    expect(sink.text()).toEqual(['done']);
    process.kill(Number(await readFile(`${dispatch.worktreePath}/escaped`, 'utf8')), 'SIGKILL');
  });

  it('ends it when the sink fails, and fails itself', async () => {
    const dispatch = await aDispatch(directory, 'while :; do echo line; sleep 0.02; done');
    const sink = new RecordingSink();
    sink.append = async () => {
      throw new Error('the store is gone');
    };
    await expect(provider.run(dispatch, sink, never)).rejects.toThrow('the store is gone');
    await gone(sink);
  });

  it('ends it when its start cannot be recorded', async () => {
    const dispatch = await aDispatch(directory, 'read -r line; touch started; sleep 1000');
    const sink = new RecordingSink();
    sink.started = async (identity) => {
      sink.process = identity;
      throw new Error('the store is gone');
    };
    await expect(provider.run(dispatch, sink, never)).rejects.toThrow('the store is gone');
    await gone(sink);
    await expect(stat(`${dispatch.worktreePath}/started`)).rejects.toThrow();
  });
});
