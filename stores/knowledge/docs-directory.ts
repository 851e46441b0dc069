import { join } from 'node:path';
import { localWorkspace } from '../../contracts/common';
import { workspaceDirectory } from '../../platform/processes/data-directory';

interface DocSettings {
  BOARD_DATA_DIR: string;
  BOARD_DOCS_DIR?: string | undefined;
}

/**
 * Where the documents of a workspace are. Those of `local` may be anywhere; another workspace has its own directory, so that none
 * reads those of another.
 */
export const docsDirectory = (env: DocSettings, workspaceId: string): string =>
  workspaceId === localWorkspace && env.BOARD_DOCS_DIR !== undefined
    ? env.BOARD_DOCS_DIR
    : join(workspaceDirectory(env.BOARD_DATA_DIR, workspaceId), 'docs');
