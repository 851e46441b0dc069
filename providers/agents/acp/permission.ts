import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk/unstable';

/** The question of an agent that waits for permission. */
export interface PermissionQuestion {
  attemptId: string;
  taskId: string;
  title: string;
  toolKind: string | null;
  options: { id: string; name: string; kind: string }[];
}

export interface PermissionResponse {
  /** One of the question's options; none takes the question as cancelled. */
  optionId: string | undefined;
  /** What decided: a policy, or a person. */
  decidedBy: string;
}

/** Where a question comes from, in the protocol's own names. */
export interface QuestionOrigin {
  sessionId: string | undefined;
  toolCallId: string;
}

/** Decides an agent's permission requests: approvals by people come in here only. */
export interface PermissionDecider {
  /** It logs the question and the decision itself, in the run's log. */
  recordsItself?: true;
  /** @param signal aborted when the agent no longer waits for the response */
  decide(question: PermissionQuestion, signal: AbortSignal, origin: QuestionOrigin): Promise<PermissionResponse>;
}

/**
 * Decides by the agent's configuration: an option that allows, or rejects, this once; without such an option the
 * question is cancelled. Nothing is allowed or rejected for good here.
 */
export const policyDecider = (policy: 'reject' | 'allow'): PermissionDecider => ({
  decide: ({ options }) => {
    const preferred = policy === 'allow' ? 'allow_once' : 'reject_once';
    return Promise.resolve({
      optionId: options.find(({ kind }) => kind === preferred)?.id,
      decidedBy: `policy:${policy}`,
    });
  },
});

/** Rejects, by a rule of the run that people are not asked about. */
export const ruleDecider = ({ rule }: { rule: string }): PermissionDecider => ({
  decide: ({ options }) =>
    Promise.resolve({ optionId: options.find(({ kind }) => kind === 'reject_once')?.id, decidedBy: `rule:${rule}` }),
});

/** Limits of a permission request: it is shown to people and stored. */
const limits = { options: 32, nameLength: 1_000, idLength: 256, titleLength: 20_000 } as const;

/** Why a request is more than can be asked of people; nothing when it is not. */
export function excessOf({ toolCall, options }: RequestPermissionRequest): string | undefined {
  if (options.length > limits.options) {
    return `It offers more than ${limits.options} options.`;
  }
  const ids = [toolCall.toolCallId, ...options.map(({ optionId }) => optionId)];
  if (ids.some((id) => id.length > limits.idLength)) {
    return `It has an id of more than ${limits.idLength} characters.`;
  }
  if (options.some(({ name }) => name.length > limits.nameLength)) {
    return `It has an option with a name of more than ${limits.nameLength} characters.`;
  }
  const title = toolCall.title ?? '';
  return title.length > limits.titleLength ? `Its title has more than ${limits.titleLength} characters.` : undefined;
}

export const questionOf = (
  { toolCall, options }: RequestPermissionRequest,
  { attemptId, taskId }: { attemptId: string; taskId: string },
): PermissionQuestion => ({
  attemptId,
  taskId,
  title: toolCall.title ?? toolCall.toolCallId,
  toolKind: toolCall.kind ?? null,
  options: options.map(({ optionId, name, kind }) => ({ id: optionId, name, kind })),
});

/** The response in the protocol's form; an option that was not offered counts as none. */
export const responseOf = (
  { options }: PermissionQuestion,
  { optionId }: PermissionResponse,
): RequestPermissionResponse =>
  optionId !== undefined && options.some(({ id }) => id === optionId)
    ? { outcome: { outcome: 'selected', optionId } }
    : { outcome: { outcome: 'cancelled' } };
