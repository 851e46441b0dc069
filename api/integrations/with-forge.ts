import type { ForgeConnection } from '../../contracts/integrations/forge';
import type { Repository } from '../../contracts/settings/repository';

export type RepositoryWithForge = Repository & { forge: ForgeConnection };

/** Whether a configured repository is at a forge. */
export const hasForge = (repository: Repository): repository is RepositoryWithForge =>
  repository.forge !== undefined && repository.forge !== null;
