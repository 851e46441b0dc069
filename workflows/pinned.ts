/**
 * Every workflow, for workers of a version that its runs are pinned to. What does not end, while launches wait or a repository is
 * synchronised, follows the current version. Temporal refuses that of workers that have no version: they run `index.ts`.
 */
import { setWorkflowOptions } from '@temporalio/workflow';
import { admissionScheduler, issueSync } from './index';

setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, admissionScheduler);
setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, issueSync);

export * from './index';
