import { slug } from '../../contracts/common';
import type { Refusal } from '../../contracts/refusal';
import type { AskedAction } from '../../domain/governance/action';
import { ruleRefusal } from '../../domain/governance/rule-refusal';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { currentOperation, operationBytes } from '../../platform/operations/operation';
import type { Asking, DecisionPoint, RuleDecision } from './decision-point';

const codes = { POLICY_BLOCKED: 403, APPROVAL_REQUIRED: 409, ADMISSION_BUDGET_EXHAUSTED: 409 } as const;

/** An action that an actor is about to do. */
export interface ActorAction extends Pick<
  AskedAction,
  'action' | 'actor' | 'also' | 'subject' | 'tools' | 'roles' | 'requires' | 'facts'
> {
  taskId?: string | undefined;
  project: string | undefined;
  reaches?: AskedAction['reaches'] | undefined;
  /** Names the action where no operation does: it is counted and approved once under this name. */
  change: string;
}

/** The agent that an actor is, as the audit log names actors; nothing for people and services. */
function agentOfActor(actor: string): string | undefined {
  const name = actor.startsWith('agent:') ? slug.safeParse(actor.slice('agent:'.length)) : undefined;
  return name?.success ? name.data : undefined;
}

/** Asks the rules about an action that is counted and approved once under a name, and returns why they refuse it if they do. */
export async function askRules(
  rules: Pick<DecisionPoint, 'decide'>,
  action: ActorAction,
): Promise<RuleDecision & { refused?: Refusal }> {
  const decided = await rules.decide(...questionOf(action));
  return { ...decided, ...compact({ refused: ruleRefusal(decided) }) };
}

function questionOf({ change: once, project, taskId, reaches, ...action }: ActorAction): [AskedAction, Asking] {
  const asked = { ...action, ...compact({ agent: agentOfActor(action.actor), project, taskId, reaches }) };
  return [asked, { counting: { once }, use: once, once }];
}

/**
 * Asks the rules about an action that is about to be done. An allowed one begins while the trace of the decision is being stored,
 * and is not acknowledged before it is: in one write with it where the store can do that. What they warn of is noted on the running operation, whose response
 * names the trace.
 *
 * @throws AppError 403 `POLICY_BLOCKED`, 409 `APPROVAL_REQUIRED`, `ADMISSION_BUDGET_EXHAUSTED`
 */
export async function requireAllowed(rules: DecisionPoint, action: ActorAction): Promise<void> {
  const operation = currentOperation();
  const change = operation ? operationBytes(`rules/${action.action}`, 12).toString('hex') : action.change;
  const { recorded, decision, traceId, ...decided } = await rules.decideFirst(...questionOf({ ...action, change }));
  const refused = ruleRefusal({ ...decided, decision, ...compact({ traceId }) });
  if (!operation || refused) {
    await recorded;
  } else {
    operation.noteRecording(recorded);
  }
  if (refused) {
    throw ruleError(refused);
  }
  if (decision === 'warn' && traceId !== undefined) {
    operation?.noteWarning(traceId);
  }
}

/** The error that an action refused by the rules fails with. */
export const ruleError = ({ code, message, details }: Refusal): AppError =>
  new AppError(code, { status: codes[code as keyof typeof codes], message, details });

/** Whether an action was refused by the rules. */
export const isRuleRefusal = (error: unknown): error is AppError =>
  error instanceof AppError && Object.hasOwn(codes, error.code);
