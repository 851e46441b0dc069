import type { AskedAction } from '../../domain/governance/action';
import { ruleRefusal } from '../../domain/governance/rule-refusal';
import { AppError } from '../../platform/errors/app-error';
import { currentOperation } from '../../platform/operations/operation';
import type { Asking, DecisionPoint } from './decision-point';

const codes = { POLICY_BLOCKED: 403, APPROVAL_REQUIRED: 409 } as const;

/**
 * Asks the rules about an action that is about to be done. What they warn of is noted on the running operation, whose response
 * names the trace.
 *
 * @throws AppError 403 `POLICY_BLOCKED`, 409 `APPROVAL_REQUIRED`
 */
export async function requireAllowed(rules: DecisionPoint, asked: AskedAction, asking: Asking): Promise<void> {
  const decided = await rules.decide(asked, asking);
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
