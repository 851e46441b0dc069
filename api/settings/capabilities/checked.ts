import type { WorkspaceManifest, WorkspaceManifestInput } from '../../../contracts/settings/capability';
import { sealedWorkspace, workspaceIssues } from '../../../domain/workspaces/manifest';
import { validationError } from '../../../platform/errors/app-error';

/** The manifest with its digest. @throws AppError 400 with the paths of what is wrong beyond its shape */
export function checkedManifest(sent: WorkspaceManifestInput): WorkspaceManifest {
  const issues = workspaceIssues(sent);
  if (issues.length > 0) {
    throw validationError(issues.slice(0, 50));
  }
  return sealedWorkspace(sent);
}
