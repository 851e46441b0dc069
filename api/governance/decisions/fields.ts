import type { AssumptionPatch, Decision, DecisionCreate } from '../../../contracts/governance/decision';
import { validationError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';

type Assumption = Decision['assumptions'][number];

const statusOf = (held: boolean | null): Assumption['status'] =>
  held === null ? 'open' : held ? 'validated' : 'invalidated';

/** The fields of a decision, whichever names the request has for them. */
export function decisionFields(body: DecisionCreate): Omit<Decision, 'id' | 'createdAt' | 'updatedAt' | 'revision'> {
  const { outputAction = '', decision = outputAction, confidenceLevel = 0, confidence = confidenceLevel } = body;
  const { inputContext = '', reasoning = inputContext, agentId, agent = agentId } = body;
  const { evidence, riskScore, taskId, parentDecisionId, outcome } = body;
  const assumptions = body.assumptions.map((assumption): Assumption => {
    const { text, held = null } = typeof assumption === 'string' ? { text: assumption } : assumption;
    return { text, held, status: statusOf(held) };
  });
  return {
    ...{ decision, confidence, reasoning, evidence, assumptions },
    ...compact({ agent, riskScore, taskId, parentDecisionId, outcome }),
  };
}

/** The assumptions with one changed. @throws AppError 400 when there is no such one */
export function withAssumption(
  assumptions: readonly Assumption[],
  index: number,
  patch: AssumptionPatch,
): Assumption[] {
  const before = assumptions[index];
  if (!before) {
    throw validationError([{ path: 'idx', message: `must be below ${assumptions.length}: indexes start at 0` }]);
  }
  const { text = before.text, status, note = before.note } = patch;
  const held = status === undefined ? (patch.held === undefined ? before.held : patch.held) : status === 'validated';
  const after = { text, held, status: statusOf(held), ...compact({ note }) };
  return assumptions.map((assumption, at) => (at === index ? after : assumption));
}
