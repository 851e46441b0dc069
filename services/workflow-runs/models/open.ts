import type { PartEnvironment } from '../../../platform/config/part-settings';
import type { Log } from '../../../platform/log/log';
import { dryRunCatalog, readCatalog } from './catalog';
import { createModels, type Models } from './models';

/**
 * The models of this service by its settings. Keys are read from the environment when they are needed, and stored
 * nowhere.
 *
 * @throws CatalogError with all that is wrong with the catalog's file
 */
export async function openModels(env: PartEnvironment<'workflow-runs'>, log: Log): Promise<Models> {
  const { WORKFLOW_RUNS_MODELS: path, WORKFLOW_RUNS_DRY_RUN: dryRun } = env;
  const catalog = path === undefined ? dryRunCatalog : await readCatalog(path);
  const keyOf = (name: string): string | undefined => process.env[name];
  const variables = catalog.flatMap(({ provider }) =>
    provider.kind !== 'dry-run' && provider.api_key_env !== undefined ? [provider.api_key_env] : [],
  );
  const missing = [...new Set(variables)].filter((name) => !keyOf(name));
  if (missing.length > 0 && !dryRun) {
    log.warn({ missing }, 'model provider keys missing: their calls will fail');
  }
  return createModels({ catalog, keyOf, dryRun });
}
