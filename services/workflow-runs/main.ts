import { join } from 'node:path';
import { runTemporalService } from '../temporal-service';
import { CatalogError } from './models/catalog';
import { startWorkflowRuns } from './start';

void runTemporalService({
  name: 'workflow-runs',
  codePath: join(__dirname, '..', '..', 'workflow-runs-workflow-bundle.js'),
  start: startWorkflowRuns,
  isMisconfigured: (error) => error instanceof CatalogError,
});
