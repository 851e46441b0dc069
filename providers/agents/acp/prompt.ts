import type { TaskEnvelopeTransport } from '../../../contracts/runs/launch/contract';

const commitSentences = {
  allowed: 'You may commit your work.',
  required: 'Commit your work: a run without a commit does not count as done.',
  forbidden: 'Do not commit.',
} as const;

/** The task of a transport document in words: the first prompt of a new session. */
export function promptOf({ envelope, sections }: TaskEnvelopeTransport): string {
  const { objective, commitPolicy, expectedOutputs, phase, workspace } = envelope;
  const parts = [`# ${objective.title}`];
  if (objective.description !== '') {
    parts.push(objective.description);
  }
  const open = objective.subtasks.filter(({ completed }) => !completed);
  if (open.length > 0) {
    parts.push(['## Subtasks', ...open.map(({ title }) => `- ${title}`)].join('\n'));
  }
  for (const { title, text } of sections) {
    parts.push(`## ${title}\n${text}`);
  }
  const rules = [`Phase: ${phase}. ${commitSentences[commitPolicy]}`];
  if (workspace) {
    rules.push(`You work in a git worktree on the branch ${workspace.branch}; stay inside it.`);
  }
  for (const { kind, id, required } of expectedOutputs) {
    rules.push(`${required ? 'Required' : 'Wanted'} output: ${id} (${kind}).`);
  }
  parts.push(rules.join('\n'));
  return parts.join('\n\n');
}

/** The prompt that continues a session that knows the task already: the new message only. */
export const continuationPrompt = ({ sections }: TaskEnvelopeTransport): string | undefined =>
  sections.find(({ id }) => id === 'conversation-message')?.text;
