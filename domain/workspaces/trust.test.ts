import type { TrustDecision, TrustEntry } from '../../contracts/runs/trust';
import { inventoryOf, startedAgent, trustAtLaunch, type TrustMode, trustStateOf } from './trust';
import { trustKindOf } from './trusted-files';

const entry = (path: string, objectId = 'a'): TrustEntry => ({
  path,
  kind: trustKindOf(path) ?? 'configuration',
  objectId: objectId.repeat(40),
});
const nothing = inventoryOf([], []);
const some = inventoryOf([entry('AGENTS.md'), entry('.mcp.json')], []);
const decided = (decision: TrustDecision['decision']) => ({ id: `trust_${'0'.repeat(32)}`, decision });

describe('files that agents read by themselves', () => {
  test.each([
    ['AGENTS.md', 'instructions'],
    ['packages/shop/CLAUDE.md', 'instructions'],
    ['.cursor/rules/style.mdc', 'instructions'],
    ['.mcp.json', 'tools'],
    ['.cursor/mcp.json', 'tools'],
    ['.claude/skills/deploy/SKILL.md', 'tools'],
    ['.claude/commands/ship.md', 'tools'],
    ['.claude/hooks/before.sh', 'hooks'],
    ['.envrc', 'hooks'],
    ['.claude/settings.local.json', 'configuration'],
    ['.codex', 'configuration'],
  ])('%s is %s', (path, kind) => {
    expect(trustKindOf(path)).toBe(kind);
  });

  test.each(['README.md', 'src/agents.md', 'docs/.mcp.json', 'constructor', '__proto__', '.claudette/x.md'])(
    '%s is a file',
    (path) => {
      expect(trustKindOf(path)).toBeUndefined();
    },
  );
});

test('an inventory has one digest whatever order it was found in, and another one for other content', () => {
  expect(inventoryOf([entry('.mcp.json'), entry('AGENTS.md')], []).digest).toBe(some.digest);
  expect(inventoryOf([entry('AGENTS.md', 'b'), entry('.mcp.json')], []).digest).not.toBe(some.digest);
  expect(inventoryOf(some.entries, ['link']).digest).not.toBe(some.digest);
});

test('what cannot be pinned down is not trusted, whatever was decided', () => {
  const open = inventoryOf(some.entries, ['CLAUDE.md']);
  expect(trustStateOf(open, decided('trusted'))).toBe('undecided');
  expect(trustStateOf(open, decided('revoked'))).toBe('revoked');
});

const launch = (mode: TrustMode, decision?: TrustDecision['decision'], untrustedArgs?: string[]) =>
  trustAtLaunch({
    mode,
    inventory: some,
    decision: decision && decided(decision),
    agent: { type: 'bee', args: ['bee.mjs'], ...(untrustedArgs ? { untrustedArgs } : {}) },
  });

test.each([
  ['warn', undefined, 'untrusted'],
  ['warn', 'trusted', 'trusted'],
  ['block', 'trusted', 'trusted'],
  ['off', 'revoked', 'not-evaluated'],
] as const)('with %s and the decision %s a launch continues as %s', (mode, decision, state) => {
  expect(launch(mode, decision)).toMatchObject({ section: { state } });
});

test.each([
  ['warn', 'revoked', 'revoked'],
  ['warn', 'rejected', 'rejected'],
  ['block', undefined, 'undecided'],
] as const)('with %s and the decision %s a launch that depends on trust is refused', (mode, decision, state) => {
  expect(launch(mode, decision)).toMatchObject({
    status: 'refused',
    code: 'WORKSPACE_UNTRUSTED',
    details: { state, inventoryDigest: some.digest, paths: ['.mcp.json', 'AGENTS.md'] },
  });
});

test.each(['warn', 'block'] as const)('an agent that can leave them alone is launched so with %s', (mode) => {
  for (const decision of [undefined, 'rejected', 'revoked'] as const) {
    const trust = launch(mode, decision, ['--bare']);
    expect(trust).toMatchObject({
      section: { state: 'untrusted', restricted: true },
      notice: { id: 'workspace-trust', text: expect.stringContaining('- AGENTS.md') },
      warnings: [{ code: 'workspace-untrusted' }],
    });
  }
  expect(startedAgent({ args: ['bee.mjs'], untrustedArgs: ['--bare'] }, { restricted: true }).args).toEqual([
    'bee.mjs',
    '--bare',
  ]);
  expect(startedAgent({ args: ['bee.mjs'], untrustedArgs: ['--bare'] }, {}).args).toEqual(['bee.mjs']);
});

test('a workspace that brings nothing needs no trust, and gets no notice', () => {
  expect(
    trustAtLaunch({ mode: 'block', inventory: nothing, decision: undefined, agent: { type: 'bee', args: [] } }),
  ).toEqual({ section: { state: 'not-required', inventoryDigest: nothing.digest }, warnings: [] });
});
