import { slug } from '../../contracts/common';
import type { AskedAction } from '../../domain/governance/action';
import { ruleRefusal } from '../../domain/governance/rule-refusal';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { currentOperation, operationBytes } from '../../platform/operations/operation';
import type { DecisionPoint } from './decision-point';

const codes = { POLICY_BLOCKED: 403, APPROVAL_REQUIRED: 409 } as const;

/** An action that an actor is about to do. */
export interface ActorAction extends Pick<AskedAction, 'action' | 'actor' | 'taskId' | 'also' | 'subject'> {
  project: string | undefined;
  /** Names the action where no operation does: it is counted and approved once under this name. */
  change: string;
}

/** The agent that an actor is, as the audit log names actors; nothing for people and services. */
function agentOfActor(actor: string): string | undefined {
  const name = actor.startsWith('agent:') ? slug.safeParse(actor.slice('agent:'.length)) : undefined;
  return name?.success ? name.data : undefined;
}

/**
 * Asks the rules about an action that is about to be done. What they warn of is noted on the running operation, whose response
 * names the trace.
 *
 * @throws AppError 403 `POLICY_BLOCKED`, 409 `APPROVAL_REQUIRED`
 */
export async function requireAllowed(rules: DecisionPoint, { project, change, ...action }: ActorAction): Promise<void> {
  const once = currentOperation() ? operationBytes(`rules/${action.action}`, 12).toString('hex') : change;
  const asked = { ...action, ...compact({ agent: agentOfActor(action.actor), project }) };
  const decided = await rules.decide(asked, { counting: { once }, use: once, once });
  const refused = ruleRefusal(decided);
  if (refused) {
    const { code, message, details } = refused;
    throw new AppError(code, { status: codes[code as keyof typeof codes], message, details });
  }
  if (decided.decision === 'warn' && decided.traceId !== undefined) {
    currentOperation()?.noteWarning(decided.traceId);
  }
}

/** Whether an action was refused by the rules. */
export const isRuleRefusal = (error: unknown): error is AppError =>
  error instanceof AppError && Object.hasOwn(codes, error.code);
