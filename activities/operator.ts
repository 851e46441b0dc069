import { claimDigest, redactClaim, type TerminalClaim } from '../runs/completion';
import type { ClaimStore } from '../stores/claim-store';
import type { OperatorCompletion } from '../workflows/agent-run/messages';

/** What operators say by hand is kept where everything of its kind is. */
export function createOperatorActivities(claims: ClaimStore) {
  return {
    /** Keeps an operator's word for the end of a remote run; saying it again is the same claim. Answers its digest. */
    async writeClaim({ attemptId, status, summary, actor }: OperatorCompletion): Promise<string> {
      const claim = redactClaim<TerminalClaim>({
        terminalSource: 'operator-interruption',
        status,
        summary: `${summary} (reported by ${actor})`,
        claims: {},
        harness: { ended: 'callback' },
      });
      const digest = claimDigest(claim);
      await claims.put(attemptId, digest, claim);
      return digest;
    },
  };
}

export type OperatorActivities = ReturnType<typeof createOperatorActivities>;
