import { existsSync } from 'node:fs';
import { link, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Phase } from '../../../contracts/common';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { runtimeManifest } from '../../../domain/capabilities';
import { effectiveSideEffects } from '../../../domain/contract/side-effects';
import { phaseAuthority } from '../../../domain/phases/table';
import { openRules, type ToolRules } from '../../../domain/tools/rules';
import { findByEnvironment } from '../../../platform/processes/identity';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createAcpProvider } from '../../../providers/agents/acp/acp-provider';
import type { AgentDispatch } from '../../../providers/agents/provider';
import type { AgentResponse } from '../../../providers/agents/question';
import { anAgent } from '../../support/factories/agent';
import { aDispatch, RecordingSink } from './agent-fixture';

const provider = createAcpProvider({ environment: { ...process.env, TOKEN_OF_MODEL: 'hunter22-hunter22' } });
const never = new AbortController().signal;
let directory: TempDir;
let worktree: string;

beforeEach(async () => {
  directory = await makeTempDir('acp-tools');
  worktree = `${directory.path}/worktree`;
  await mkdir(join(worktree, 'src'), { recursive: true });
  await mkdir(join(worktree, 'secrets'));
  await writeFile(join(worktree, 'src/a.txt'), 'one\ntwo\n');
  await writeFile(join(worktree, 'secrets/key'), 'the key\n');
  await writeFile(join(directory.path, 'outside.txt'), 'outside\n');
  await symlink(join(directory.path, 'outside.txt'), join(worktree, 'link.txt'));
  await symlink(directory.path, join(worktree, 'linked'));
  await link(join(directory.path, 'outside.txt'), join(worktree, 'twin.txt'));
});
afterEach(() => directory.remove());

const example = resolve(__dirname, '../../../examples/acp-agent/agent.mjs');
const agent = (fields: Partial<AgentConfig> = {}) =>
  anAgent({
    type: 'acp',
    name: 'ACP',
    provider: 'acp',
    command: process.execPath,
    args: [example, '--state', `${directory.path}/sessions`, '--client-tools'],
    ...fields,
  });

const runtime = runtimeManifest('acp', { ok: true, diagnostics: [] }, { probedAt: '2026-01-01T00:00:00.000Z' });

/** The rules of a run in a phase. */
function inPhase(phase: Phase, fields: Partial<ToolRules> = {}): ToolRules {
  const authority = phaseAuthority(phase);
  const posture = { allowed: null, commitPolicy: 'allowed' as const, sandbox: null, runtime, worktreePath: worktree };
  return { ...openRules(worktree), authority, effects: effectiveSideEffects({ ...posture, authority }), ...fields };
}

class AskedSink extends RecordingSink {
  readonly asked: string[] = [];
  constructor(private readonly decision: AgentResponse['decision']) {
    super();
  }
  decide(question: { action: string }): Promise<AgentResponse> {
    this.asked.push(question.action);
    return Promise.resolve({ decision: this.decision, decidedBy: 'user:ann' });
  }
}

const dispatchOf = (script: string[], rules: () => ToolRules, changes: Partial<AgentDispatch> = {}) =>
  aDispatch(directory, '', {
    agent: agent(),
    transport: {
      envelope: {
        objective: { title: 'Scripted', description: script.join('\n'), subtasks: [] },
        commitPolicy: 'allowed',
        phase: 'implement',
        expectedOutputs: [],
        workspace: null,
      },
      sections: [],
    },
    rules: () => Promise.resolve(rules()),
    ...changes,
  });

/** The agent's report of each line of its script. */
async function reportOf(
  script: string[],
  rules: () => ToolRules = () => openRules(worktree),
  changes: Partial<AgentDispatch> = {},
  sink: RecordingSink = new RecordingSink(),
) {
  const dispatch = await dispatchOf(script, rules, changes);
  await provider.run(dispatch, sink, never);
  expect(await findByEnvironment('BOARD_ATTEMPT_ID', dispatch.attemptId)).toEqual([]);
  const texts = sink.events.filter(({ kind }) => kind === 'message.assistant').map(({ payload }) => payload.text);
  return { texts, sink };
}

describe('files that are offered to an agent', () => {
  test('are read and written in the worktree, and the log of the run has it', async () => {
    const { texts, sink } = await reportOf(['read src/a.txt', 'write new/b.txt: hello', 'read new/b.txt']);
    expect(texts).toEqual(['Read one\ntwo.', 'Read hello.']);
    expect(await readFile(join(worktree, 'new/b.txt'), 'utf8')).toBe('hello\n');
    expect(sink.events).toContainEqual(
      expect.objectContaining({
        kind: 'file.changed',
        payload: { path: 'new/b.txt', status: 'added', tool: 'fs/write_text_file' },
      }),
    );
  });

  test.each([
    ['read ../outside.txt', /not a file of the worktree/],
    ['read /etc/passwd', /not a file of the worktree/],
    ['read .git/config', /not a file of the worktree/],
    ['read link.txt', /symbolic link/],
    ['read linked/outside.txt', /symbolic link/],
    ['read src', /not a regular file/],
    ['read nothing.txt', /does not exist/],
    ['write ../outside.txt: x', /not a file of the worktree/],
    ['write link.txt: x', /symbolic link/],
    ['write linked/planted.txt: x', /symbolic link/],
    ['write twin.txt: x', /several hard links/],
    ['write .git/hooks/pre-commit: x', /not a file of the worktree/],
  ])('%s leads nowhere', async (line, reason) => {
    const { texts } = await reportOf([line]);
    expect(texts).toEqual([expect.stringMatching(reason)]);
    expect(await readFile(join(directory.path, 'outside.txt'), 'utf8')).toBe('outside\n');
    expect(existsSync(join(directory.path, 'planted.txt'))).toBe(false);
  });

  test.each([
    ['explore', ['write a.txt: x'], /^Refused: The run may not write a\.txt/],
    ['plan', ['write src/a.txt: x'], /^Refused: The run may not write/],
  ] as const)('are not written in the phase %s', async (phase, script, reason) => {
    const { texts, sink } = await reportOf([...script], () => inPhase(phase));
    expect(texts).toEqual([expect.stringMatching(reason)]);
    expect(existsSync(join(worktree, 'a.txt'))).toBe(false);
    expect(sink.events).toContainEqual(
      expect.objectContaining({
        kind: 'tool.completed',
        payload: expect.objectContaining({ name: 'fs/write_text_file', status: 'refused', rule: 'phase' }),
      }),
    );
  });

  test('follow a change of the phase while the agent runs', async () => {
    let phase: Phase = 'explore';
    const sink = new RecordingSink();
    const rules = () => {
      const current = inPhase(phase);
      phase = 'implement';
      return current;
    };
    const { texts } = await reportOf(['write a.txt: x', 'write a.txt: y'], rules, {}, sink);
    expect(texts).toEqual([expect.stringMatching(/^Refused/)]);
    expect(await readFile(join(worktree, 'a.txt'), 'utf8')).toBe('y\n');
  });

  test('are kept from what a preset denies, and from tools that a profile denies', async () => {
    const preset = () => ({ ...openRules(worktree), deniedPaths: ['secrets', '**/*.pem'] });
    const script = ['read secrets/key', 'write secrets/new: x', 'write deep/a.pem: x', 'read src/a.txt', 'run ls'];
    expect((await reportOf(script, preset)).texts).toEqual([
      'Refused: The sandbox preset denies secrets/key.',
      'Refused: The sandbox preset denies secrets/new.',
      'Refused: The sandbox preset denies deep/a.pem.',
      'Read one\ntwo.',
      'Refused: Commands cannot be restricted to the paths that the sandbox preset allows.',
    ]);
    const profile = () => ({ ...openRules(worktree), tools: { allowed: null, denied: ['execute', 'write'] } });
    expect((await reportOf(['write a.txt: x', 'run ls', 'read src/a.txt'], profile)).texts).toEqual([
      'Refused: The profile denies the tool write.',
      'Refused: The profile denies the tool execute.',
      'Read one\ntwo.',
    ]);
    const readers = () => ({ ...openRules(worktree), permissions: ['read'] });
    expect((await reportOf(['write a.txt: x'], readers)).texts).toEqual([expect.stringMatching(/gives no permission/)]);
  });
});

describe('commands that are offered to an agent', () => {
  test('run without a shell in the worktree, with the environment of the agent and no more', async () => {
    const script = ['run pwd', 'run echo $HOME;ls', 'run env', 'run false', 'run no-such-command'];
    const withKey = { agent: agent({ environmentKeys: ['TOKEN_OF_MODEL'] }) };
    const { texts, sink } = await reportOf(script, () => openRules(worktree), withKey);
    expect(texts.slice(0, 2)).toEqual([`Ran with 0: ${worktree}.`, 'Ran with 0: $HOME;ls.']);
    expect(texts[2]).toMatch(/BOARD_ATTEMPT_ID=attempt_/);
    expect(texts[2]).toContain('TOKEN_OF_MODEL=[REDACTED]');
    expect(texts[2]).not.toMatch(/JEST_WORKER_ID|NODE_ENV/);
    expect(texts.slice(3)).toEqual(['Ran with 1: .', expect.stringMatching(/^Refused: .*not found/)]);
    expect(sink.kinds()).toEqual(expect.arrayContaining(['command.started', 'command.completed']));
    const verifying = await reportOf(['run npm test', 'run env'], () => inPhase('verify'), withKey);
    expect(verifying.texts[1]).toBe('Refused: The phase allows no commands of the kind mutate.');
  });

  test('only read in a phase that only looks', async () => {
    const script = [
      'run cat src/a.txt',
      'run touch b.txt',
      'run cat link.txt',
      'run cat ../outside.txt',
      'run sh -c ls',
    ];
    const { texts } = await reportOf(script, () => inPhase('explore'));
    expect(texts).toEqual([
      'Ran with 0: one\ntwo.',
      expect.stringMatching(/^Refused: Commands of the kind mutate cannot be restricted/),
      expect.stringMatching(/leads out of the worktree/),
      expect.stringMatching(/^Refused/),
      expect.stringMatching(/^Refused/),
    ]);
    expect(existsSync(join(worktree, 'b.txt'))).toBe(false);
  });

  test('end with the run, and what they started with them', async () => {
    const stop = new AbortController();
    const dispatch = await dispatchOf(['run sleep 600'], () => openRules(worktree));
    const sink = new RecordingSink();
    const run = provider.run(dispatch, sink, stop.signal);
    await eventually(() => expect(sink.kinds()).toContain('command.started'));
    await eventually(async () =>
      expect((await findByEnvironment('BOARD_ATTEMPT_ID', dispatch.attemptId)).length).toBeGreaterThan(1),
    );
    stop.abort();
    expect(await run).toMatchObject({ ended: 'stopped' });
    expect(await findByEnvironment('BOARD_ATTEMPT_ID', dispatch.attemptId)).toEqual([]);
  });

  test('are not offered to an agent that something else confines', async () => {
    const { texts } = await reportOf(['run ls', 'read src/a.txt'], () => openRules(worktree), {
      agent: agent({ hostEnforced: ['network.disable'] }),
    });
    expect(texts).toEqual([expect.stringMatching(/^Refused/), 'Read one\ntwo.']);
  });
});

describe('what an agent asks permission for', () => {
  test.each([
    ['ask edit src/a.txt change', 'explore', 'no'],
    ['ask execute . run', 'explore', 'no'],
    ['ask read src/a.txt look', 'explore', 'yes'],
    ['ask edit src/a.txt change', 'implement', 'yes'],
    ['ask edit /etc/passwd change', 'verify', 'yes'],
  ] as const)('%s in %s is decided by the phase before a person is asked', async (line, phase, answer) => {
    const sink = new AskedSink('approved');
    const { texts } = await reportOf([line], () => inPhase(phase), {}, sink);
    expect(texts).toEqual([`The answer was ${answer}.`]);
    expect(sink.asked).toHaveLength(answer === 'yes' ? 1 : 0);
  });

  test('a refusal is in the log with its rule', async () => {
    const { sink } = await reportOf(['ask edit a.txt change'], () => inPhase('explore'));
    expect(sink.events.find(({ kind }) => kind === 'approval.resolved')?.payload).toMatchObject({
      decidedBy: 'rule:phase',
      reason: expect.any(String),
    });
  });

  test('people are asked what the phase wants an approval of, whatever the configuration reports', async () => {
    const rules = () => {
      const current = inPhase('implement');
      const authority = {
        ...current.authority!,
        'command.execute': { scopes: ['inspect', 'mutate'], approval: ['mutate'] },
      };
      return { ...current, authority };
    };
    const allowing = { agent: agent({ permissions: 'allow' }) };
    const yes = new AskedSink('approved');
    expect((await reportOf(['run ls', 'run touch b.txt'], rules, allowing, yes)).texts).toEqual([
      expect.stringMatching(/^Ran with 0/),
      'Ran with 0: .',
    ]);
    expect(yes.asked).toEqual(['terminal/create touch b.txt']);
    const no = new AskedSink('rejected');
    expect((await reportOf(['run touch c.txt'], rules, allowing, no)).texts).toEqual(['Refused: It was not approved.']);
    expect(existsSync(join(worktree, 'c.txt'))).toBe(false);
  });
});

describe('the probe', () => {
  const states = async (config: AgentConfig) => {
    const { capabilities } = runtimeManifest('acp', await provider.probe(config), {
      probedAt: '2026-01-01T00:00:00.000Z',
    });
    const of = (id: string) => capabilities.find((capability) => capability.id === id)?.state;
    return ['tool.calls', 'run.approvals', 'filesystem.deny-paths', 'run.fork', 'run.archive'].map(of);
  };

  test('reports what is enforced of an agent by what it shows', async () => {
    expect(await states(agent())).toEqual(['supported', 'supported', 'supported', 'supported', 'supported']);
    const args = agent().args.filter((arg) => arg !== '--client-tools');
    expect(await states(agent({ args }))).toEqual(['advisory', 'advisory', 'unsupported', 'supported', 'supported']);
  });
});
