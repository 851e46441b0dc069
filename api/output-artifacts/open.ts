import { createOutputArtifactStore } from '../../stores/output-artifact-store';
import type { OpenArea } from '../durable-context';
import { outputArtifactRoutes } from './routes';

export const openOutputArtifacts: OpenArea = async ({ database, env, log }) => {
  const context = {
    outputArtifacts: await createOutputArtifactStore(database, { retentionMs: env.BOARD_ARTIFACT_RETENTION_MS }),
    log,
    settings: { readsPerMinute: env.RATE_LIMIT_ARTIFACTS },
  };
  return (routes) => outputArtifactRoutes(routes, context);
};
