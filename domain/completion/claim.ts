import type {
  CompletionClaims,
  CompletionResult,
  CompletionStatus,
  HarnessEvidence,
} from '../../contracts/runs/completion';
import { digestOf } from '../../platform/json/digest';
import { createRedactor } from '../../platform/log/redact';

/** The claim when an attempt ends, before evidence and policy are checked. */
export interface TerminalClaim {
  terminalSource: CompletionResult['terminalSource'];
  status: CompletionStatus;
  summary: string;
  error?: string;
  claims: CompletionClaims;
  harness: HarnessEvidence;
}

/** Identity of a claim: two claims with the same one are the same claim, repeated. */
export const claimDigest = (claim: Pick<TerminalClaim, 'terminalSource' | 'status' | 'summary' | 'error' | 'claims'>) =>
  digestOf({
    terminalSource: claim.terminalSource,
    status: claim.status,
    summary: claim.summary,
    error: claim.error ?? null,
    claims: claim.claims,
  });

const redact = createRedactor();

/** A claim as it may be stored: nothing in it looks like a credential. */
export function redactClaim<T extends object>(claim: T): T {
  const clean: unknown = JSON.parse(JSON.stringify(claim), (_, value: unknown) =>
    typeof value === 'string' ? redact(value) : value,
  );
  // The same fields, with texts replaced by texts.
  return clean as T;
}
