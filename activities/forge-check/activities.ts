import type { ForgeCheckResult } from '../../contracts/integrations/forge';
import { cut } from '../../platform/text/cut';
import { ForgeError } from '../../providers/forges/forge-error';
import type { ForgeCheckInput } from '../../workflows/forge-check/messages';
import { forgeAdvice } from '../shared/forge-refusals';
import type { RepositoryForges } from '../shared/repository-forges';

export interface ForgeCheckDependencies {
  forges: Pick<RepositoryForges, 'open'>;
  now: () => Date;
}

/** How long a forge may take to answer one request of a check, in milliseconds. */
const timeoutMs = 5_000;

export function createForgeCheckActivities({ forges, now }: ForgeCheckDependencies) {
  return {
    /** Asks the forge of a repository who the credential belongs to. Changes nothing, here or there. */
    async checkForge({ repo }: ForgeCheckInput): Promise<ForgeCheckResult> {
      const result = (found: Partial<ForgeCheckResult> & Pick<ForgeCheckResult, 'state'>): ForgeCheckResult => ({
        login: null,
        mayPush: null,
        message: null,
        checkedAt: now().toISOString(),
        ...found,
      });
      const opened = await forges.open(repo, { timeoutMs });
      if ('status' in opened) {
        const state = opened.code === 'FORGE_REFUSED_ADDRESS' ? 'refused-address' : 'credential-missing';
        return result({ state, message: opened.message });
      }
      try {
        const account = await opened.forge.check();
        const readOnly = 'The token may not push: pull requests cannot be made with it.';
        return result({ state: 'connected', ...account, message: account.mayPush === false ? readOnly : null });
      } catch (error) {
        if (!(error instanceof ForgeError)) {
          throw error;
        }
        return result({ state: error.code, message: cut(forgeAdvice(error), 2_000) });
      }
    },
  };
}

export type ForgeCheckActivities = ReturnType<typeof createForgeCheckActivities>;
