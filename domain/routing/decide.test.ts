import fc from 'fast-check';
import type { ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type { AgentConfig } from '../../contracts/settings/agent-config';
import { type RouteWork, type RoutingConfiguration, routingConfiguration } from '../../contracts/settings/routing';
import { type TeamRoster, teamRoster } from '../../contracts/settings/team-roster';
import { anAgent } from '../../test/support/factories/agent';
import { runtimeManifest } from '../capabilities';
import { decideRoute, type RouteQuestion, type RoutingInputs } from './decide';
import { defaultRouting } from './defaults';
import type { RuntimeEvidence } from './evidence';
import { routeRefusal } from './launch';
import { routeTrace } from './trace';

const agent = (type: string, fields: Partial<AgentConfig> = {}) => anAgent({ type, name: type, ...fields });

const probe = (ok: boolean, model?: string) =>
  runtimeManifest(
    'process',
    { ok, diagnostics: ok ? [] : ['not found'] },
    { probedAt: '2026-01-01T00:00:00.000Z', ...(model === undefined ? {} : { model }) },
  );
const onHost = (type: string, manifest: ProviderRuntimeManifest = probe(true)): RuntimeEvidence => ({
  source: 'host',
  sourceId: 'host-1',
  agent: type,
  manifest,
});
const registered = (id: string, manifest: ProviderRuntimeManifest): RuntimeEvidence => ({
  source: 'registry',
  sourceId: id,
  agent: null,
  manifest,
});
const having = (id: string, state: 'supported' | 'advisory' | 'unsupported' | 'unknown'): ProviderRuntimeManifest => {
  const manifest = probe(true);
  return {
    ...manifest,
    capabilities: manifest.capabilities.map((each) => (each.id === id ? { ...each, state } : each)),
  };
};

const rules = (...list: object[]): RoutingConfiguration =>
  routingConfiguration.parse({
    enabled: true,
    rules: list.map((rule, at) => ({ id: `rule-${at}`, name: `Rule ${at}`, match: {}, ...rule })),
    defaultAgent: 'a',
    fallbackOnFailure: true,
    maxRetries: 1,
  });
const roster = (...members: object[]): TeamRoster =>
  teamRoster.parse({ members: members.map((member, at) => ({ id: `member-${at}`, name: `Member ${at}`, ...member })) });

const inputs = (fields: Partial<RoutingInputs> = {}): RoutingInputs => {
  const agents = fields.agents ?? ['a', 'b', 'c'].map((type) => agent(type));
  return {
    configuration: rules(),
    roster: null,
    agents,
    defaultAgent: 'a',
    profiles: [],
    evidence: agents.map(({ type }) => onHost(type)),
    ...fields,
  };
};
const ask = (fields: Partial<RouteQuestion> = {}): RouteQuestion => ({
  work: {},
  required: [],
  toLaunch: false,
  ...fields,
});

describe('the agent of some work', () => {
  it('is that of the first enabled rule that matches', () => {
    const configuration = rules(
      { match: { type: 'docs' }, agent: 'b' },
      { match: { type: ['code', 'bug'], priority: 'high' }, agent: 'b', enabled: false },
      { match: { type: ['code', 'bug'], priority: 'high' }, agent: 'c', model: undefined },
      { match: { type: 'code' }, agent: 'a' },
    );
    const decision = decideRoute(inputs({ configuration }), ask({ work: { type: 'code', priority: 'high' } }));
    expect(decision).toMatchObject({ rule: 'rule-2', outcome: 'routed', selected: { agent: { type: 'c' } } });
    expect(decision.evaluated.map(({ status }) => status)).toEqual(['not-matched', 'skipped', 'matched', 'skipped']);
    expect(decision.evaluated[0]!.message).toBe('type is code, not docs');
  });

  it.each([
    ['project', { project: ['atlas', 'borealis'] }, { project: 'borealis' }, { project: 'other' }],
    ['subtasks', { minSubtasks: 3 }, { subtaskCount: 3 }, { subtaskCount: 2 }],
    ['priority', { priority: ['high', 'critical'] }, { priority: 'critical' }, {}],
  ] as [string, object, RouteWork, RouteWork][])('follows the %s', (_field, match, yes, no) => {
    const configuration = rules({ match, agent: 'b' });
    expect(decideRoute(inputs({ configuration }), ask({ work: yes })).rule).toBe('rule-0');
    expect(decideRoute(inputs({ configuration }), ask({ work: no }))).toMatchObject({
      rule: null,
      selected: { agent: { type: 'a' } },
    });
  });

  it('is the default one while routing is off, whatever the rules choose', () => {
    const configuration = { ...rules({ agent: 'b' }), enabled: false };
    const decision = decideRoute(inputs({ configuration, defaultAgent: 'c' }), ask());
    expect(decision).toMatchObject({ rule: null, routingEnabled: false, selected: { agent: { type: 'c' } } });
  });

  it('is the fallback of the rule, then the default one, when the rule names one that is not available', () => {
    const configuration = rules({ agent: 'b', fallback: 'c' });
    const evidence = [onHost('a'), onHost('b', probe(false)), onHost('c')];
    const decision = decideRoute(inputs({ configuration, evidence }), ask());
    expect(decision).toMatchObject({
      outcome: 'fallback',
      rule: 'rule-0',
      selected: { agent: { type: 'c' }, fallbackAgent: 'a' },
    });
    expect(decision.reason).toMatch(/rule Rule 0 matches.*Agent b is not available.*not found.*c takes over/);
    const off = inputs({ configuration, evidence: [onHost('a'), onHost('c', probe(false))] });
    expect(decideRoute(off, ask()).selected?.agent.type).toBe('a');
  });

  it('is none when the rule allows no fallback', () => {
    const configuration = { ...rules({ agent: 'b', fallback: 'c' }), fallbackOnFailure: false };
    const agents = [agent('a'), agent('b', { enabled: false }), agent('c')];
    const decision = decideRoute(inputs({ configuration, agents }), ask());
    expect(decision).toMatchObject({ outcome: 'blocked', reason: expect.stringContaining('Agent b is disabled') });
    expect(routeRefusal(decision)).toMatchObject({
      code: 'CONFLICT',
      message: 'No healthy agent available for routing',
      details: { agent: 'b', routingEnabled: true, reason: decision.reason },
    });
  });

  it('is none when no agent is configured', () => {
    const decision = decideRoute(
      inputs({ agents: [], defaultAgent: null, configuration: defaultRouting([], null) }),
      ask(),
    );
    expect(routeRefusal(decision)).toMatchObject({ code: 'CONFLICT', details: { agent: null } });
  });
});

describe('the team roster', () => {
  const match = { types: ['code'], paths: ['src/**'], capabilities: ['typescript', 'sql'], maxSubtasks: 5 };
  const work: RouteWork = { type: 'code', path: 'src/api/a.ts', capabilities: ['sql'], subtaskCount: 5 };

  it('comes before the rules, under a rule of its own', () => {
    const decision = decideRoute(
      inputs({ roster: roster({ agent: 'b', match }), configuration: rules({ agent: 'c' }) }),
      ask({ work }),
    );
    expect(decision).toMatchObject({ rule: 'team-roster:member-0', selected: { agent: { type: 'b' } } });
  });

  it.each([
    ['type', { type: 'docs' }],
    ['path', { path: 'docs/a.md' }],
    ['no path', { path: undefined }],
    ['capabilities', { capabilities: ['sql', 'rust'] }],
    ['subtasks', { subtaskCount: 6 }],
  ])('leaves work with another %s to the rules', (_field, other) => {
    const decision = decideRoute(
      inputs({ roster: roster({ agent: 'b', match }), configuration: rules({ agent: 'c' }) }),
      ask({ work: { ...work, ...other } }),
    );
    expect(decision).toMatchObject({ rule: 'rule-0', selected: { agent: { type: 'c' } } });
    expect(decision.evaluated.map(({ id }) => id)).toEqual(['team-roster:member-0', 'rule-0']);
  });

  it('is not evaluated while it is off', () => {
    const off = { ...roster({ agent: 'b' }), enabled: false };
    expect(decideRoute(inputs({ roster: off }), ask()).rule).toBeNull();
  });

  it('has members take over for each other, and no other agent', () => {
    const team = {
      ...roster({ agent: 'b', fallback: 'member-1' }, { agent: 'nobody' }, { agent: 'c' }),
      fallback: 'member-2',
    };
    const agents = [agent('a'), agent('b', { enabled: false }), agent('c')];
    const decision = decideRoute(inputs({ roster: team, agents }), ask());
    expect(decision).toMatchObject({
      outcome: 'fallback',
      rule: 'team-roster:member-0',
      selected: { agent: { type: 'c' } },
    });
    const alone = roster({ agent: 'b' });
    expect(decideRoute(inputs({ roster: alone, agents }), ask()).outcome).toBe('blocked');
  });

  it('may name a profile, which brings its agent and model', () => {
    const profiles = [{ id: 'careful', agent: 'b', model: 'large', enabled: true }];
    const evidence = [onHost('b', probe(true, 'large'))];
    const team = roster({ profileId: 'careful' });
    expect(decideRoute(inputs({ roster: team, profiles, evidence }), ask()).selected).toMatchObject({
      agent: { type: 'b' },
      profileId: 'careful',
      model: 'large',
    });
    expect(decideRoute(inputs({ roster: team }), ask())).toMatchObject({
      outcome: 'blocked',
      reason: expect.stringContaining('profile careful'),
    });
  });
});

describe('what a runtime must be able to do', () => {
  const required = ['run.fork'];
  const tried = (evidence: RuntimeEvidence[], toLaunch = false, agents = [agent('a')]) =>
    decideRoute(inputs({ agents, evidence }), ask({ required, toLaunch }));

  it.each([
    ['supported', [], []],
    ['advisory', [], ['capability-advisory']],
    ['unsupported', ['capability-unsupported'], []],
    ['unknown', ['capability-unknown'], []],
  ] as const)('%s', (state, reasons, warnings) => {
    const { candidates, outcome } = tried([onHost('a', having('run.fork', state))]);
    expect(candidates.map((each) => each.reasons.map(({ code }) => code))).toEqual([reasons]);
    expect(candidates.map((each) => each.warnings.map(({ code }) => code))).toEqual([warnings]);
    expect(outcome).toBe(reasons.length === 0 ? 'routed' : 'blocked');
  });

  it('is not there when the manifest does not speak of it, or its probe failed', () => {
    const silent = { ...probe(true), capabilities: [] };
    const { candidates } = tried([onHost('a', silent), { ...onHost('a', probe(false)), sourceId: 'host-2' }]);
    expect(candidates[0]!.reasons.map(({ code }) => code)).toContain('capability-missing');
    expect(candidates[1]!.reasons.map(({ code }) => code)).toEqual(['probe-failed']);
  });

  it('may be known of a registration of the same provider and model, but not to launch an agent of this host', () => {
    const elsewhere = registered('far', having('run.fork', 'supported'));
    const found = tried([onHost('a'), elsewhere]);
    expect(found.candidates.map(({ sourceId, selected }) => [sourceId, selected])).toEqual([
      ['host-1', false],
      ['far', true],
    ]);
    expect(tried([onHost('a'), elsewhere], true).outcome).toBe('blocked');
    const other = registered('other', { ...having('run.fork', 'supported'), provider: 'remote-callback' });
    expect(tried([other]).candidates[0]!.reasons.map(({ code }) => code)).toEqual(['provider-mismatch']);
    const model = tried([elsewhere], false, [agent('a', { model: 'large' })]);
    expect(model.candidates[0]!.reasons.map(({ code }) => code)).toEqual(['model-mismatch']);
  });

  it('is refused with every manifest that was rejected', () => {
    const decision = tried([onHost('a'), registered('far', probe(true))]);
    const { code, details } = routeRefusal(decision);
    expect(code).toBe('CAPABILITY_UNSUPPORTED');
    expect(details.runtimeCandidates).toHaveLength(2);
    expect(details.reasons).toContainEqual(
      expect.objectContaining({ code: 'capability-unsupported', capabilityId: 'run.fork', state: 'unsupported' }),
    );
    expect(routeTrace(decision, { actionType: 'route' })).toMatchObject({ kind: 'routing', outcome: 'blocked' });
  });
});

describe('the configuration of a board that has none', () => {
  it('sends everything to the default agent, and urgent work also to another of its provider', () => {
    const agents = [
      agent('far', { provider: 'remote-callback' }),
      agent('a'),
      agent('off', { enabled: false }),
      agent('b'),
    ];
    const configuration = defaultRouting(agents, 'a');
    expect(routingConfiguration.parse(configuration)).toEqual(configuration);
    expect(configuration).toMatchObject({ enabled: true, defaultAgent: 'a', fallbackOnFailure: true, maxRetries: 1 });
    expect(configuration.rules.map(({ id, agent: to, fallback }) => [id, to, fallback])).toEqual([
      ['code-high', 'a', 'b'],
      ['code-default', 'a', undefined],
      ['bug-high', 'a', 'b'],
      ['docs', 'a', undefined],
      ['review', 'a', undefined],
    ]);
  });
});

describe('whatever is configured', () => {
  const type = fc.constantFrom('code', 'docs', 'bug');
  const priority = fc.constantFrom('low' as const, 'high' as const);
  const name = fc.constantFrom('a', 'b', 'c', 'unknown');
  const match = fc.record({ type: fc.oneof(type, fc.array(type, { minLength: 1 })), priority }, { requiredKeys: [] });
  const rule = fc.record(
    { match, agent: name, fallback: name, enabled: fc.boolean() },
    { requiredKeys: ['match', 'agent'] },
  );
  const member = fc.record(
    {
      agent: name,
      enabled: fc.boolean(),
      match: fc.record({ types: fc.array(type, { minLength: 1 }) }, { requiredKeys: [] }),
    },
    { requiredKeys: ['agent', 'match'] },
  );
  const work = fc.record({ type, priority }, { requiredKeys: [] });
  const states = fc.constantFrom('supported', 'advisory', 'unsupported', 'unknown', 'failed');
  const evidence = fc.array(
    fc
      .tuple(fc.constantFrom('a', 'b', 'c', null), states, fc.constantFrom('x', 'y', 'z'))
      .map(([about, state, id]): RuntimeEvidence => ({
        source: about === null ? 'registry' : 'host',
        sourceId: id,
        agent: about,
        manifest: state === 'failed' ? probe(false) : having('run.fork', state as 'supported'),
      })),
  );
  const world = fc
    .record({
      list: fc.array(rule, { maxLength: 5 }),
      team: fc.option(fc.array(member, { maxLength: 4 })),
      evidence,
      enabled: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      fallbackOnFailure: fc.boolean(),
      on: fc.boolean(),
    })
    .map(({ list, team, enabled, fallbackOnFailure, on, evidence: known }) =>
      inputs({
        configuration: { ...rules(...list), fallbackOnFailure, enabled: on },
        roster: team && roster(...team),
        agents: ['a', 'b', 'c'].map((each, at) => agent(each, { enabled: enabled[at]! })),
        evidence: known,
      }),
    );
  const question = fc
    .record({ work, required: fc.subarray(['run.fork', 'usage.tokens']), toLaunch: fc.boolean() })
    .map((fields) => ask(fields));

  it('exactly one manifest is selected, of the agent that is answered, unless no agent takes the work', () => {
    fc.assert(
      fc.property(world, question, (given, asked) => {
        const { selected, outcome, candidates } = decideRoute(given, asked);
        const chosen = candidates.filter((each) => each.selected);
        expect(chosen.map((each) => each.agent)).toEqual(selected ? [selected.agent.type] : []);
        expect(outcome === 'blocked').toBe(selected === undefined);
        if (selected) {
          expect(selected.agent.enabled).toBe(true);
        }
        for (const each of candidates) {
          expect(each.compatible).toBe(each.reasons.length === 0);
        }
        for (const each of chosen) {
          expect(each.compatible).toBe(true);
        }
      }),
    );
  });

  it('the first of roster and rules that matches decides, and the roster comes first', () => {
    const meets = (wanted: string | string[] | undefined, value: string | undefined) =>
      wanted === undefined || (value !== undefined && [wanted].flat().includes(value));
    fc.assert(
      fc.property(world, question, (given, asked) => {
        const expectedMember = given.roster?.members.find(
          (each) => each.enabled && meets(each.match.types, asked.work.type),
        );
        const expectedRule = given.configuration.rules.find(
          (each) =>
            each.enabled && meets(each.match.type, asked.work.type) && meets(each.match.priority, asked.work.priority),
        );
        const byRule = given.configuration.enabled ? (expectedRule?.id ?? null) : null;
        const { rule: reported, evaluated } = decideRoute(given, asked);
        expect(reported).toBe(expectedMember ? `team-roster:${expectedMember.id}` : byRule);
        expect(evaluated.filter(({ status }) => status === 'matched').map(({ id }) => id)).toEqual(
          reported === null ? [] : [reported],
        );
      }),
    );
  });

  it('the order in which evidence arrives changes nothing', () => {
    fc.assert(
      fc.property(world, question, (given, asked) => {
        const known = new Map(given.evidence.map((each) => [`${each.agent}/${each.sourceId}`, each]));
        const forwards = decideRoute({ ...given, evidence: [...known.values()] }, asked);
        expect(decideRoute({ ...given, evidence: [...known.values()].reverse() }, asked)).toEqual(forwards);
      }),
    );
  });
});
