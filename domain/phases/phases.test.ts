import fc from 'fast-check';
import { type Phase, phase } from '../../contracts/common';
import { phaseDimension, type PhaseEvidence, phaseEvidence } from '../../contracts/runs/phase';
import { sideEffectKind } from '../../contracts/tasks/task';
import { aPreset, aProfile } from '../../test/support/factories/contract';
import { runtimeManifest } from '../capabilities';
import { type Authority, mapAuthority, within } from './authority';
import { authorityOf, compilePhase, type Sources } from './evidence';
import { launchPhase } from './launch';
import { planPathProblem } from './plan-path';
import { launchSources, sandboxAuthority } from './sources';
import { expansionOf, lastingEvidence, type PhaseState, planTransition, restoredFrom } from './transition';

const confined = [
  'filesystem.deny-paths',
  'filesystem.descendants',
  'network.disable',
  'network.allowlist',
  'credential.broker',
  'tool.calls',
  'tool.mcp',
] as const;
const at = '2026-01-01T00:00:00.000Z';
const runtimeWith = (hostEnforced: readonly string[], provider: 'process' | 'remote-callback' = 'process') =>
  runtimeManifest(provider, { ok: true, diagnostics: [] }, { probedAt: at, hostEnforced });
const bare = runtimeWith([]);
const sandboxed = runtimeWith(confined);

const launch = (requested?: Phase, fields: Partial<Parameters<typeof launchPhase>[0]> = {}) =>
  launchPhase({ requested, parent: undefined, sources: {}, runtime: sandboxed, ...fields });
const codes = ({ blockers }: { blockers: { code: string; dimension: string }[] }) =>
  blockers.map(({ code, dimension }) => `${code} ${dimension}`);
const stateOf = (evidence: PhaseEvidence, fields: Partial<PhaseState> = {}): PhaseState => ({
  evidence,
  manifestDigest: `sha256:${'0'.repeat(64)}`,
  sequence: 0,
  sources: {},
  emergency: null,
  ...fields,
});

describe('launching in a phase', () => {
  test('without one a run is under no limits, and reports it', () => {
    const { evidence, blockers } = launch(undefined, { runtime: bare });
    expect(blockers).toEqual([]);
    expect(evidence).toMatchObject({ mode: 'legacy', phase: 'implement' });
    expect(evidence.dimensions['network.egress']).toMatchObject({ scopes: ['*'], enforcement: 'enforced' });
    expect(phaseEvidence.parse(evidence)).toEqual(evidence);
  });

  test.each(['process', 'remote-callback'] as const)('implement is what any %s agent may do anyway', (provider) => {
    const { evidence, blockers } = launch('implement', { runtime: runtimeWith([], provider) });
    expect(blockers).toEqual([]);
    expect(evidence).toMatchObject({ mode: 'profile' });
    // No enforcement is claimed that does not apply.
    expect(evidence.dimensions['filesystem.write'].enforcement).toBe(
      provider === 'process' ? 'unenforceable' : 'unsupported',
    );
  });

  test.each(['explore', 'plan', 'verify', 'publish'] as const)('%s needs a runtime that enforces it', (requested) => {
    const { blockers } = launch(requested, { runtime: bare });
    expect(blockers.map(({ code }) => code)).toContain('phase-required-authority-unenforceable');
    expect(launch(requested).blockers).toEqual([]);
  });

  test('a runtime without files cannot be kept from them', () => {
    expect(codes(launch('explore', { runtime: runtimeWith([], 'remote-callback') }))).toContain(
      'phase-required-authority-unsupported filesystem.write',
    );
  });

  test('a child that needs more than its parent has is refused, and one that needs less is not', () => {
    const parent = launch('verify').evidence;
    expect(codes(launch('publish', { parent }))).toEqual(['phase-required-authority-denied command.execute']);
    expect(launch('explore', { parent }).blockers).toEqual([]);
    expect(launch(undefined, { parent }).evidence).toMatchObject({ phase: 'verify', mode: 'profile' });
  });

  test('without a phase, a run has no more than its parent without one', () => {
    const sources = launchSources({
      sandbox: aPreset({ network: { defaultEgress: 'deny', allowedHosts: ['a.example'] } }),
      profile: null,
      allowedSideEffects: null,
    });
    const parent = launch(undefined, { sources }).evidence;
    expect(parent.mode).toBe('legacy');
    const child = launch(undefined, { parent }).evidence;
    expect(child.dimensions['network.egress']).toMatchObject({ scopes: ['a.example'], limitedBy: ['parent'] });
  });

  test('a child plans in the file its parent plans in', () => {
    const parent = compilePhase(
      { phase: 'plan', dimensions: { 'artifact.plan.write': { scopes: ['docs/plan.md'] } } },
      {},
      sandboxed,
    ).evidence;
    const child = launch('plan', { parent }).evidence;
    expect(child.dimensions['artifact.plan.write'].scopes).toEqual(['docs/plan.md']);
  });

  test('a sandbox that is required takes away what it closes, and one that advises does not', () => {
    const preset = aPreset({ network: { defaultEgress: 'deny', allowedHosts: ['a.example'] } });
    const { evidence } = launch('implement', { sources: sandboxAuthority(preset) });
    expect(evidence.dimensions['network.egress']).toMatchObject({ scopes: ['a.example'], limitedBy: ['sandbox'] });
    expect(sandboxAuthority({ ...preset, enforcement: 'advisory' })).toEqual({});
  });
});

describe('what limits a run beside its parent', () => {
  const none = { sandbox: null, profile: null, allowedSideEffects: null };
  const profile = (restrictions: object) => aProfile({ restrictions });
  const inPhase = (sources: Sources, runtime = sandboxed) => launch('implement', { sources, runtime });

  test('who reports nothing takes nothing away', () => {
    expect(launchSources(none)).toEqual({});
    expect(launchSources({ ...none, profile: profile({ permissions: ['edit'], mcpServers: ['docs'] }) })).toEqual({});
  });

  test('permissions of a profile that name dimensions close the others', () => {
    const sources = launchSources({
      ...none,
      profile: profile({ permissions: ['filesystem.read', 'filesystem.write', 'network.egress:a.example', 'edit'] }),
    });
    const { dimensions } = inPhase(sources).evidence;
    expect(dimensions['filesystem.write']).toMatchObject({ scopes: ['workspace'], limitedBy: [] });
    expect(dimensions['network.egress']).toMatchObject({ scopes: ['a.example'], limitedBy: ['agent-profile'] });
    expect(dimensions['command.execute']).toMatchObject({ scopes: [], limitedBy: ['agent-profile'] });
  });

  test('without servers nothing outside is acted on, without tools nothing is run', () => {
    const servers = inPhase(launchSources({ ...none, profile: profile({ mcpServers: [] }) })).evidence.dimensions;
    expect(servers['external.action']).toMatchObject({ scopes: [], limitedBy: ['tool-catalog'] });
    expect(servers['command.execute'].limitedBy).toEqual([]);
    const tools = launchSources({ ...none, profile: profile({ tools: { allowed: [] } }) });
    expect(inPhase(tools).evidence.dimensions['command.execute']).toMatchObject({ scopes: [] });
  });

  test('what the policy of the task leaves out is closed, and refused where the runtime does not enforce it', () => {
    const sources = launchSources({
      ...none,
      allowedSideEffects: [
        { kind: 'filesystem-write', scope: 'src' },
        { kind: 'network-egress', scope: 'a.example' },
      ],
    });
    const { dimensions } = inPhase(sources).evidence;
    expect(dimensions['filesystem.write']).toMatchObject({ scopes: ['workspace'] });
    expect(dimensions['network.egress']).toMatchObject({ scopes: ['a.example'], limitedBy: ['launch-policy'] });
    expect(dimensions['command.execute']).toMatchObject({ scopes: [], limitedBy: ['launch-policy'] });
    expect(inPhase(sources).blockers).toEqual([]);
    expect(codes(inPhase(sources, bare))).toContain('phase-required-authority-unenforceable network.egress');
    expect(codes(inPhase(launchSources({ ...none, allowedSideEffects: [] })))).toContain(
      'phase-required-authority-denied filesystem.write',
    );
  });
});

describe('authority never widens', () => {
  const scopes = fc.subarray(['*', 'workspace', 'inspect', 'build', 'test', 'read', 'a.example']);
  const source: fc.Arbitrary<Authority> = fc.array(scopes, { minLength: 7, maxLength: 7 }).map((rows) => {
    const left = [...rows];
    return mapAuthority(() => ({ scopes: left.shift() ?? [], approval: [] }));
  });
  const any: fc.Arbitrary<Sources> = fc.record(
    { 'agent-profile': source, sandbox: source, 'tool-catalog': source, 'launch-policy': source },
    { requiredKeys: [] },
  );
  const permission = fc
    .tuple(fc.constantFrom('edit', ...phaseDimension.options), fc.constantFrom('', ':workspace', ':read', ':*'))
    .map((parts) => parts.join(''));
  const effect = fc.record({
    kind: fc.constantFrom(...sideEffectKind.options),
    scope: fc.constantFrom('*', 'src', 'a.example'),
  });
  /** As a launch has them: from its preset, its profile and the policy of its task. */
  const launched: fc.Arbitrary<Sources> = fc
    .record({
      closed: fc.option(fc.subarray(['a.example', 'b.example']), { nil: null }),
      restrictions: fc.record(
        {
          permissions: fc.array(permission, { maxLength: 6 }),
          mcpServers: fc.subarray(['docs']),
          tools: fc.record({ allowed: fc.subarray(['shell']) }, { requiredKeys: [] }),
        },
        { requiredKeys: [] },
      ),
      allowedSideEffects: fc.option(fc.array(effect, { maxLength: 4 }), { nil: null }),
    })
    .map(({ closed, restrictions, allowedSideEffects }) =>
      launchSources({
        sandbox: closed && aPreset({ network: { defaultEgress: 'deny', allowedHosts: closed } }),
        profile: aProfile({ restrictions }),
        allowedSideEffects,
      }),
    );
  const sources = fc.oneof(any, launched);
  /** A retry has the same phase; a fallback or another provider has other capabilities; a child may request any phase. */
  const step = fc.record({
    requested: fc.option(fc.constantFrom(...phase.options), { nil: undefined }),
    sources,
    runtime: fc.constantFrom(bare, sandboxed, runtimeWith(['network.disable']), runtimeWith([], 'remote-callback')),
  });

  test('over chains of descendants, retries, fallbacks and changes of provider', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...phase.options),
        fc.array(step, { minLength: 1, maxLength: 12 }),
        (first, steps) => {
          let parent = launch(first).evidence;
          for (const { requested, ...next } of steps) {
            const { evidence } = launchPhase({ requested, parent, ...next });
            expect(within(authorityOf(evidence), authorityOf(parent))).toBe(true);
            expect(evidence.mode).toBe('profile');
            parent = evidence;
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  test('over an emergency: its end gives no more than was there before it, nor than is left', () => {
    const any = fc
      .tuple(fc.constantFrom(...phase.options), sources)
      .map(([name, limits]) => compilePhase({ phase: name }, limits, sandboxed).evidence);
    fc.assert(
      fc.property(any, any, (prior, current) => {
        const restored = authorityOf(restoredFrom(prior, current));
        expect(within(restored, authorityOf(prior))).toBe(true);
        expect(within(restored, authorityOf(current))).toBe(true);
        const emergency = { operationId: 'e', expiresAt: at, prior };
        expect(authorityOf(lastingEvidence({ evidence: current, emergency }))).toEqual(restored);
      }),
      { numRuns: 200 },
    );
  });

  test('a transition is applied without asking only when it stays within what there is', () => {
    fc.assert(
      fc.property(fc.constantFrom(...phase.options), fc.constantFrom(...phase.options), sources, (from, to, limits) => {
        const state = stateOf(launch(from).evidence, { sources: limits });
        const { evidence, comparison } = planTransition(state, { phase: to }, sandboxed);
        expect(comparison !== 'wider').toBe(within(authorityOf(evidence), authorityOf(state.evidence)));
      }),
      { numRuns: 200 },
    );
  });
});

describe('a transition', () => {
  const verify = stateOf(launch('verify').evidence);

  test('to less is narrower, back is wider, and reports by what', () => {
    expect(planTransition(verify, { phase: 'explore' }, sandboxed)).toMatchObject({
      comparison: 'narrower',
      blockers: [],
    });
    const planned = planTransition(verify, { phase: 'implement' }, sandboxed);
    expect(planned).toMatchObject({ comparison: 'wider', blockers: [] });
    expect(expansionOf(verify, planned.evidence).requirements).toEqual([
      { dimension: 'command.execute', requestedScopes: ['format', 'mutate'] },
      { dimension: 'credential.access', requestedScopes: ['*'] },
    ]);
  });

  test('evidence that was read can be asked for again', () => {
    const { schemaVersion, phase: name, dimensions, digest } = verify.evidence;
    const target = { schemaVersion, phase: name, mode: 'profile' as const, dimensions, digest };
    expect(planTransition(verify, target, sandboxed)).toMatchObject({ comparison: 'same', blockers: [] });
    expect(planTransition(verify, target, sandboxed).evidence.digest).toBe(digest);
  });

  test('to what a phase does not have is refused by name', () => {
    const target = { phase: 'verify' as const, dimensions: { 'command.execute': { scopes: ['test', 'publish'] } } };
    expect(planTransition(verify, target, sandboxed).blockers).toEqual([
      expect.objectContaining({
        code: 'phase-required-authority-denied',
        dimension: 'command.execute',
        requestedScopes: ['publish'],
      }),
    ]);
  });

  test('a plan is one file in the worktree, and only of the phase plan', () => {
    const planning = (scopes: string[], name: Phase = 'plan') =>
      codes(planTransition(verify, { phase: name, dimensions: { 'artifact.plan.write': { scopes } } }, sandboxed));
    expect(planning(['docs/plan.md'])).toEqual([]);
    expect(planning(['../plan.md'])).toEqual(['phase-plan-artifact-path-invalid artifact.plan.write']);
    expect(planning(['a.md', 'b.md'])).toEqual(['phase-plan-artifact-path-invalid artifact.plan.write']);
    expect(planning(['a.md'], 'verify')).toEqual(['phase-plan-artifact-not-allowed artifact.plan.write']);
  });
});

test.each([
  '/etc/passwd',
  'a/../../b',
  './a',
  'a//b',
  'a/',
  'a\\b',
  'C:/a',
  '.git/hooks/pre-commit',
  'a/.GIT/config',
  '.git./x',
  'git~1/x',
  'a\nb',
  '*',
  '',
  `${'a/'.repeat(400)}b`,
])('%j is no path of a plan', (path) => {
  expect(planPathProblem(path)).toBeDefined();
});

test('every dimension is in every piece of evidence', () => {
  expect(Object.keys(launch('plan').evidence.dimensions)).toEqual(phaseDimension.options);
});
