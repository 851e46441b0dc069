import type { ApprovalActionClass } from '../../../contracts/runs/approval';
import { compact } from '../../../platform/json/compact';
import type { AgentSink } from '../provider';
import type { AgentResponse } from '../question';
import type { PermissionDecider, PermissionQuestion } from './permission';

/** The class of what the protocol calls a kind of tool; the rest are tools. */
const classes: Readonly<Record<string, ApprovalActionClass>> = {
  execute: 'shell',
  edit: 'filesystem',
  delete: 'filesystem',
  move: 'filesystem',
  fetch: 'network',
};

/**
 * Asks people. Their response chooses the option that allows or rejects this once; `optionId` in the data of a response
 * chooses another one of the same meaning, such as one that allows for good.
 *
 * @param redact hides the agent's secrets: a question is shown and stored
 */
export function createPermissionDecider(
  decide: NonNullable<AgentSink['decide']>,
  redact: (text: string) => string,
): PermissionDecider {
  return {
    recordsItself: true,
    async decide(question, signal, { sessionId, toolCallId }) {
      const { title, toolKind, options } = question;
      const answer = await decide(
        {
          requestId: `${sessionId ?? 'session'}/${toolCallId}`,
          requestKind: 'approval',
          actionClass: classes[toolKind ?? ''] ?? 'tool',
          action: redact(title),
          details: { toolKind, options: options.map(({ id, name, kind }) => ({ id, name: redact(name), kind })) },
          ...compact({ threadId: sessionId }),
          itemId: toolCallId,
        },
        signal,
      );
      return { optionId: optionOf(question, answer), decidedBy: answer.decidedBy };
    },
  };
}

function optionOf({ options }: PermissionQuestion, { decision, response }: AgentResponse): string | undefined {
  if (decision !== 'approved' && decision !== 'rejected') {
    return undefined;
  }
  const meaning = decision === 'approved' ? 'allow' : 'reject';
  const fitting = options.filter(({ kind }) => kind.startsWith(meaning));
  const chosen = fitting.find(({ id }) => id === response?.optionId);
  return (chosen ?? fitting.find(({ kind }) => kind === `${meaning}_once`))?.id;
}
