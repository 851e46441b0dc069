import '../../platform/processes/compile-cache/install';
import { join } from 'node:path';
import { CatalogError } from '../../platform/models/catalog';
import { runTemporalService } from '../temporal-service';
import { startWorkflowRuns } from './start';

void runTemporalService({
  name: 'workflow-runs',
  codePath: join(__dirname, '..', '..', 'workflow-runs-workflow-bundle.js'),
  start: startWorkflowRuns,
  isMisconfigured: (error) => error instanceof CatalogError,
});
