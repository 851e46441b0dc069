import { z } from 'zod';
import { text } from '../../contracts/common';
import { completionClaims } from '../../contracts/runs/completion';
import { cut } from '../../platform/text/cut';
import { printable } from '../../platform/text/printable';

const summaryLimit = 20_000;

/** An agent's report on its own work (process protocol, `result`), within the limits of a completion callback. */
export const agentResult = z.object({
  status: z.enum(['success', 'blocked', 'failed', 'partial']),
  summary: text(summaryLimit).default(''),
  ...completionClaims.shape,
});
export type AgentResult = z.infer<typeof agentResult>;

/** A result and, when not all of it could be stored, why. */
export interface ReadResult {
  result: AgentResult;
  problem?: string;
}

const printableDeep = (value: unknown): unknown => {
  if (typeof value === 'string') {
    return printable(value);
  }
  if (Array.isArray(value)) {
    return value.map(printableDeep);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, printableDeep(item)]));
};

/**
 * Reads a `result` line. Fields that break the limits are left out with a problem that names them, and a status that is
 * unknown counts as `failed`: a result that cannot be understood must not pass for none at all. So does a `success` of
 * which anything was left out: that may have been what speaks against it.
 */
export function readAgentResult(line: Record<string, unknown>): ReadResult {
  const fields = printableDeep(line) as Record<string, unknown>;
  const parsed = agentResult.safeParse(fields);
  if (parsed.success) {
    return { result: parsed.data };
  }
  const problem = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  const wrong = new Set(parsed.error.issues.map(({ path: [name] }) => name));
  const claims = completionClaims.parse(
    Object.fromEntries(Object.entries(fields).filter(([name]) => !wrong.has(name))),
  );
  const status = agentResult.shape.status.exclude(['success']).safeParse(fields.status);
  const summary = typeof fields.summary === 'string' ? cut(fields.summary, summaryLimit) : '';
  return {
    result: { status: status.success ? status.data : 'failed', summary, ...claims },
    problem: `The agent's result is not valid (${cut(problem, 1_000)}).`,
  };
}
