import type { WatcherQuestion, WatcherResponse, WatcherRisk } from '../../contracts/governance/watcher-policy';
import type { WatcherSettings } from '../../contracts/settings/settings';
import { continuationsOff, overContinuationCap } from '../continuation-limits';
import { risksOf } from './watcher-risks';

export type WatcherDecision = Omit<WatcherResponse, 'auditLogged' | 'evaluatedAt' | 'traceId'>;

/** A continuation that the watcher policy is asked about, and its settings of now. */
export interface AskedContinuation {
  settings: WatcherSettings;
  question: WatcherQuestion;
}

/** Risks that a person has to review in every mode. */
const great = new Set<WatcherRisk>(['destructive_command', 'credential_reference', 'policy_violation']);

/**
 * Whether a run may continue by itself (specification 2, Evaluation decisions).
 *
 * 1. Blocked while continuations are off or the kill switch is on, and once a cap is reached.
 * 2. Otherwise the mode decides: `ask_always` asks, `ask_on_risk` asks when there is any risk, `auto` when one is great.
 */
export function decideContinuation(settings: WatcherSettings, question: WatcherQuestion): WatcherDecision {
  const { defaultMode: mode, maxContinuationsPerRun, spendCapUsd } = settings;
  const overCap = [
    ...overContinuationCap(settings, question.continuationCount),
    ...(question.monthlySpendUsd >= spendCapUsd
      ? [`The spend of this month is ${question.monthlySpendUsd} USD; the cap is ${spendCapUsd}.`]
      : []),
  ];
  const seen = [...risksOf(question), ...overCap.map((evidence) => ({ risk: 'policy_violation' as const, evidence }))];
  const riskClasses = [...new Set(seen.map(({ risk }) => risk))];
  const riskLevel = riskClasses.some((risk) => great.has(risk)) ? 'high' : riskClasses.length > 0 ? 'medium' : 'low';
  const blocks = [...continuationsOff(settings), ...overCap];
  const asks = mode === 'ask_always' || riskLevel === 'high' || (mode === 'ask_on_risk' && riskLevel !== 'low');
  const decision = blocks.length > 0 ? 'blocked' : asks ? 'approval' : 'allow';
  return {
    decision,
    mode,
    riskLevel,
    riskClasses,
    reasons: blocks.length > 0 ? blocks : [`The mode is ${mode} and the risk ${riskLevel}.`],
    evidence: seen.map(({ evidence }) => evidence),
    caps: { maxContinuations: maxContinuationsPerRun, spendCapUsd },
  };
}
