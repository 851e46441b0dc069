import type { Answer } from '../../support/caller';
import type { AgentLine } from '../ledger';

type Json = Answer['body'];
const ends = ['run.completed', 'run.failed', 'run.interrupted'];

/** Checks the service's record of an attempt against what its agent wrote itself. */
export function problemsOfAttempt(attempt: Json, events: Json[], lines: readonly AgentLine[]): string[] {
  const problems: string[] = [];
  const check = (holds: boolean, problem: string) => holds || problems.push(`${attempt.id}: ${problem}`);
  check(
    events.every(({ sequence }, index) => sequence === index + 1),
    'its events have gaps or repetitions',
  );
  check(new Set(events.map(({ eventId }) => eventId)).size === events.length, 'an event was published twice');
  check(events.filter(({ kind }) => kind === 'run.started').length <= 1, 'its start was published twice');
  if (attempt.state !== 'refused') {
    const last = events.findIndex(({ kind }) => ends.includes(kind));
    check(attempt.completion !== undefined && attempt.completion !== null, 'it has no completion');
    check(events.filter(({ kind }) => ends.includes(kind)).length === 1, 'it has not one end');
    const after = last < 0 ? [] : events.slice(last + 1).map(({ kind }) => kind);
    check(after.length === 0, `it has events after its end: ${after.join(', ')}`);
  }
  problems.push(...problemsOfStatus(attempt, lines), ...problemsOfOutput(attempt, events, lines));
  return problems;
}

/** The recorded status is the one that the agent printed, or that of a run which was ended otherwise. */
function problemsOfStatus({ id, completion, state }: Json, lines: readonly AgentLine[]): string[] {
  const status: string = completion?.status ?? 'none';
  const printed = lines.find(({ what }) => what === 'result')?.status;
  const wrote = lines.some(({ what }) => what === 'wrote');
  if (state === 'refused' && lines.length > 0) {
    return [`${id}: it was refused, and its agent was started`];
  }
  if (status === 'success' && printed !== 'success') {
    return [`${id}: it is success, its agent printed ${printed}`];
  }
  if (status === 'success' && wrote && lines[0]?.mode === 'explore') {
    return [`${id}: it is success although its agent wrote in phase explore`];
  }
  const whole = lines.some(({ what }) => what === 'end');
  if (whole && printed === 'failed' && !['failed', 'interrupted'].includes(status)) {
    return [`${id}: it is ${status}, its agent printed failed`];
  }
  return [];
}

/** No output of an agent is recorded twice; of one that came to its end and was recorded so, nothing is missing. */
function problemsOfOutput({ id, completion }: Json, events: Json[], lines: readonly AgentLine[]): string[] {
  const reported = events.flatMap(({ kind, payload }): string[] => {
    const nonce = kind === 'progress' ? / ([0-9a-f]{16})$/.exec(String(payload.message))?.[1] : undefined;
    return nonce === undefined ? [] : [nonce];
  });
  const printed = lines.flatMap(({ what, nonce }) => (what === 'print' && nonce !== undefined ? [nonce] : []));
  const problems: string[] = [];
  if (new Set(reported).size !== reported.length) {
    problems.push(`${id}: output was published twice`);
  }
  if (reported.some((nonce, index) => printed[index] !== nonce)) {
    problems.push(`${id}: its output is not what was printed`);
  }
  if (
    completion?.harness?.ended === 'exit' &&
    completion.harness.exitCode === 0 &&
    reported.length !== printed.length
  ) {
    problems.push(`${id}: ${printed.length - reported.length} of ${printed.length} lines of its output are lost`);
  }
  return problems;
}
