import type { EvaluatedRule } from '../../contracts/governance/trace';
import type { AgentConfig } from '../../contracts/settings/agent-config';
import type { RouteWork, RoutingConfiguration, RuntimeCandidate } from '../../contracts/settings/routing';
import type { RosterMember, TeamRoster } from '../../contracts/settings/team-roster';
import { runtimeCandidates } from './candidates';
import type { RuntimeEvidence } from './evidence';
import { evaluateRoster, rosterChain, rosterRule } from './roster';
import { evaluateRules } from './rules';

/** The fields of a profile that routing uses. */
export interface ProfileAgent {
  id: string;
  agent: string;
  model?: string | undefined;
  enabled: boolean;
}

/** The inputs of a decision; loaded once by the caller. */
export interface RoutingInputs {
  configuration: RoutingConfiguration;
  roster: TeamRoster | null;
  agents: AgentConfig[];
  /** The agent of work that nothing else decides about. */
  defaultAgent: string | null;
  profiles: ProfileAgent[];
  evidence: RuntimeEvidence[];
}

export interface RouteQuestion {
  work: RouteWork;
  required: readonly string[];
  /** Whether the selected agent is launched now. */
  toLaunch: boolean;
}

/** One agent that was considered, and why it was or was not selected. */
export interface TriedAgent {
  agent: string | null;
  model: string | null;
  profileId: string | null;
  candidates: RuntimeCandidate[];
  /** Set when it is not available. */
  problem?: string;
}

export interface SelectedAgent {
  agent: AgentConfig;
  model: string | null;
  profileId: string | null;
  /** The next agent that would be considered, if this one failed. */
  fallbackAgent: string | null;
}

export interface RouteDecision {
  question: RouteQuestion;
  routingEnabled: boolean;
  /** The rule or member that matched; null when the default agent remained. */
  rule: string | null;
  evaluated: EvaluatedRule[];
  tried: TriedAgent[];
  outcome: 'routed' | 'fallback' | 'blocked';
  reason: string;
  fallbackAllowed: boolean;
  selected?: SelectedAgent;
  /** Every manifest that was evaluated; exactly one is selected unless the decision is `blocked`. */
  candidates: RuntimeCandidate[];
}

/** An agent to consider, in the order of a plan. */
interface Option {
  agent: string | null;
  model?: string | undefined;
  profileId?: string | undefined;
}

interface Plan {
  rule: string | null;
  because: string;
  options: Option[];
  evaluated: EvaluatedRule[];
  fallbackAllowed: boolean;
}

/**
 * Decides which agent takes the work (specification 2, Routing rules 1 to 3): an enabled roster first, then the rules, then the
 * default agent; of the one that matches, the first available agent. Pure: the same inputs give the same decision.
 */
export function decideRoute(inputs: RoutingInputs, question: RouteQuestion): RouteDecision {
  const plan = planRoute(inputs, question.work);
  const tried: TriedAgent[] = [];
  let selected: SelectedAgent | undefined;
  for (const [at, option] of plan.options.entries()) {
    const attempt = tryOption(inputs, question, option);
    tried.push(attempt.tried);
    if (!attempt.available) {
      continue;
    }
    selected = { ...attempt.available, fallbackAgent: plan.options[at + 1]?.agent ?? null };
    break;
  }
  const problems = tried.flatMap(({ problem }) => problem ?? []);
  return {
    question,
    routingEnabled: inputs.configuration.enabled,
    rule: plan.rule,
    evaluated: plan.evaluated,
    tried,
    outcome: selected ? (tried.length > 1 ? 'fallback' : 'routed') : 'blocked',
    reason: [
      plan.because,
      ...problems,
      ...(selected && tried.length > 1 ? [`${selected.agent.type} takes over.`] : []),
    ].join(' '),
    fallbackAllowed: plan.fallbackAllowed,
    ...(selected ? { selected } : {}),
    candidates: tried.flatMap(({ candidates }) => candidates),
  };
}

const rosterOf = ({ roster }: RoutingInputs): TeamRoster | undefined => (roster?.enabled ? roster : undefined);

function planRoute(inputs: RoutingInputs, work: RouteWork): Plan {
  const roster = rosterOf(inputs);
  const team = roster && evaluateRoster(roster, work);
  if (roster && team?.matched) {
    return {
      rule: rosterRule(team.matched),
      because: `The team roster assigns this work to ${team.matched.name}.`,
      options: rosterChain(roster, team.matched).map((member) => memberOption(inputs, member)),
      evaluated: team.evaluated,
      fallbackAllowed: true,
    };
  }
  return ruleRoute(inputs, work, team?.evaluated ?? []);
}

function ruleRoute({ configuration, defaultAgent }: RoutingInputs, work: RouteWork, before: EvaluatedRule[]): Plan {
  if (!configuration.enabled) {
    const options = [{ agent: defaultAgent }];
    return {
      rule: null,
      because: 'Routing is disabled: the default agent.',
      options,
      evaluated: before,
      fallbackAllowed: false,
    };
  }
  const { matched, evaluated } = evaluateRules(configuration, work);
  const last = configuration.defaultAgent ?? defaultAgent;
  const substitutes = configuration.fallbackOnFailure
    ? [matched?.fallback, matched && last].filter((agent) => typeof agent === 'string').map((agent) => ({ agent }))
    : [];
  const first: Option = matched ? { agent: matched.agent, model: matched.model } : { agent: last };
  const options = [first, ...substitutes];
  return {
    rule: matched?.id ?? null,
    because: matched ? `The rule ${matched.name} matches.` : 'No rule matches: the default agent.',
    options: options.filter(({ agent }, at) => options.findIndex((other) => other.agent === agent) === at),
    evaluated: [...before, ...evaluated],
    fallbackAllowed: configuration.fallbackOnFailure,
  };
}

/** The agent of a member, or of the profile it works with. */
export function memberOption({ profiles }: Pick<RoutingInputs, 'profiles'>, member: RosterMember): Option {
  const profile = profiles.find(({ id, enabled }) => id === member.profileId && enabled);
  const usable = member.profileId === undefined || profile !== undefined;
  return {
    agent: usable ? (profile?.agent ?? member.agent ?? null) : null,
    model: member.model ?? profile?.model,
    profileId: member.profileId,
  };
}

function tryOption(
  { agents, evidence }: RoutingInputs,
  { required, toLaunch }: RouteQuestion,
  { agent: type, model: requestedModel, profileId }: Option,
): { tried: TriedAgent; available?: Omit<SelectedAgent, 'fallbackAgent'> } {
  const tried = { agent: type, model: requestedModel ?? null, profileId: profileId ?? null, candidates: [] };
  if (type === null) {
    const problem = profileId
      ? `The profile ${profileId} does not exist or is disabled.`
      : 'No agent is configured and enabled.';
    return { tried: { ...tried, problem } };
  }
  const agent = agents.find((each) => each.type === type);
  if (!agent) {
    return { tried: { ...tried, problem: `No agent has the type ${type}.` } };
  }

  const model = requestedModel ?? agent.model ?? null;
  const candidates = runtimeCandidates({ agent, model, required, toLaunch }, evidence);
  const chosen = candidates.find(({ compatible }) => compatible);
  const evaluated = { ...tried, model, candidates: candidates.map((each) => ({ ...each, selected: each === chosen })) };
  if (!agent.enabled) {
    return { tried: { ...evaluated, problem: `Agent ${type} is disabled.` } };
  }
  if (!chosen) {
    return { tried: { ...evaluated, problem: unavailable(type, candidates) } };
  }
  return { tried: evaluated, available: { agent, model, profileId: tried.profileId } };
}

function unavailable(type: string, candidates: RuntimeCandidate[]): string {
  const reasons = [...new Set(candidates.flatMap(({ reasons: each }) => each.map(({ message }) => message)))];
  return `Agent ${type} is not available: ${reasons.length > 0 ? reasons.slice(0, 5).join('; ') : 'no evidence of it'}.`;
}
