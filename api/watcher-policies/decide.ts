import type { WatcherSettings } from '../../contracts/settings';
import type { WatcherAnswer, WatcherQuestion, WatcherRisk } from '../../contracts/watcher-policy';
import { risksOf } from './risks';

export type WatcherDecision = Omit<WatcherAnswer, 'auditLogged' | 'evaluatedAt' | 'traceId'>;

/** Risks that somebody has to look at in every mode. */
const great = new Set<WatcherRisk>(['destructive_command', 'credential_reference', 'policy_violation']);

/**
 * Whether a run may go on by itself (specification 2, Evaluation decisions).
 *
 * 1. Blocked while continuations are off or the kill switch is on, and once a cap is reached.
 * 2. Otherwise the mode decides: `ask_always` asks, `ask_on_risk` asks when there is any risk, `auto` when one is great.
 */
export function decideContinuation(settings: WatcherSettings, question: WatcherQuestion): WatcherDecision {
  const { enabled, globalKillSwitch, defaultMode: mode, maxContinuationsPerRun, spendCapUsd } = settings;
  const overCap = [
    ...(question.continuationCount >= maxContinuationsPerRun
      ? [`The run was gone on with ${question.continuationCount} times; the cap is ${maxContinuationsPerRun}.`]
      : []),
    ...(question.monthlySpendUsd >= spendCapUsd
      ? [`${question.monthlySpendUsd} USD were spent this month; the cap is ${spendCapUsd}.`]
      : []),
  ];
  const seen = [...risksOf(question), ...overCap.map((evidence) => ({ risk: 'policy_violation' as const, evidence }))];
  const riskClasses = [...new Set(seen.map(({ risk }) => risk))];
  const riskLevel = riskClasses.some((risk) => great.has(risk)) ? 'high' : riskClasses.length > 0 ? 'medium' : 'low';
  const blocks = [
    ...(enabled ? [] : ['Continuations are turned off (watcher.enabled).']),
    ...(globalKillSwitch ? ['The kill switch is on (watcher.globalKillSwitch).'] : []),
    ...overCap,
  ];
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
