import '../../platform/processes/parts/preload';
import { join } from 'node:path';
import { CatalogError } from '../../platform/models/catalog';
import { runTemporalService } from '../temporal-service';
import { openCommandSandbox, SandboxPresetsError } from './sandbox';
import { startWorkflowRuns } from './start';

void runTemporalService({
  name: 'workflow-runs',
  codePath: join(__dirname, '..', '..', 'workflow-runs-workflow-bundle.js'),
  start: async (parts) => startWorkflowRuns({ ...parts, sandbox: await openCommandSandbox(parts.env) }),
  isMisconfigured: (error) => error instanceof CatalogError || error instanceof SandboxPresetsError,
});
