import type { CompletionStatus, HarnessEvidence } from '../../../contracts/runs/completion';
import { redactClaim, type TerminalClaim } from '../../../domain/completion';
import { compact } from '../../../platform/json/compact';
import { withLastWords } from '../../../providers/agents/local/last-output';
import type { AgentOutcome } from '../../../providers/agents/provider';

/** The terminal claim of an agent process: what it reported, or what its exit shows without a report. */
export function claimOf(outcome: AgentOutcome, harness: HarnessEvidence): TerminalClaim {
  const { status: _status, summary: _summary, ...claims } = outcome.result ?? { status: undefined, summary: '' };
  const { status, summary } = verdict(outcome);
  const error = outcome.error ?? failure(outcome);
  const unreported = outcome.ended === 'exit' && outcome.result === undefined;
  const silent = outcome.silent;
  return redactClaim({
    terminalSource: sourceOf(outcome),
    status,
    summary,
    ...compact({ error }),
    claims,
    harness: { ...harness, ...(unreported ? { unreported } : {}), ...compact({ silent }) },
  });
}

function sourceOf({ ended, judgedBy }: AgentOutcome): TerminalClaim['terminalSource'] {
  if (ended === 'stopped') {
    return 'operator-interruption';
  }
  return judgedBy === 'session' ? 'stream' : 'process';
}

function verdict({ ended, judgedBy, exitCode, result }: AgentOutcome): { status: CompletionStatus; summary: string } {
  switch (ended) {
    case 'stopped':
      return { status: 'interrupted', summary: 'Stopped by an operator.' };
    case 'timeout':
      return { status: 'failed', summary: 'The agent exceeded its time limit and was stopped.' };
    case 'spawn-failed':
      return { status: 'failed', summary: 'The agent could not be started.' };
    case 'exit':
      if (judgedBy === 'exit' && exitCode !== 0) {
        return { status: 'failed', summary: result?.summary ?? 'The agent failed.' };
      }
      return { status: result?.status ?? 'success', summary: result?.summary ?? 'The agent exited without a result.' };
  }
}

function failure({ ended, judgedBy, exitCode, signal, lastWords }: AgentOutcome): string | undefined {
  if (ended !== 'exit' || judgedBy === 'session' || exitCode === 0) {
    return undefined;
  }
  const how =
    signal === null ? `The agent exited with code ${exitCode ?? 'unknown'}.` : `The agent was killed by ${signal}.`;
  return withLastWords(how, lastWords);
}
