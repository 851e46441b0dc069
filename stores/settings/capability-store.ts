import type { TrustedWorkspace, WorkspaceManifest } from '../../contracts/settings/capability';
import type { Database } from '../port/collection';
import { createConfiguredRecords, type Recorded } from '../port/configured-records';
import { openSettingsDocument } from '../port/settings-document';

interface Trust {
  manifest: WorkspaceManifest;
  trustedBy: string;
}

const present = ({ id, manifest, trustedBy, updatedAt, revision }: Trust & Recorded): TrustedWorkspace => ({
  workspaceId: id,
  manifest,
  trustedAt: updatedAt,
  trustedBy,
  revision,
});

/** The capabilities that this workspace declares, and the other workspaces it trusts. */
export async function createWorkspaceCapabilityStore(db: Database) {
  const [manifest, trusted] = await Promise.all([
    openSettingsDocument<WorkspaceManifest>(db, 'workspace-capabilities'),
    createConfiguredRecords<Trust>(db, 'trusted-workspaces'),
  ]);
  return {
    manifest,
    /** All of them, by id. */
    listTrusted: async (): Promise<TrustedWorkspace[]> => (await trusted.list()).map(present),
    /** Trusts the workspace, or its newest manifest. */
    trust: async (peer: WorkspaceManifest, trustedBy: string): Promise<TrustedWorkspace> =>
      present(await trusted.put(peer.workspaceId, { manifest: peer, trustedBy })),
    /** Whether it was trusted. */
    distrust: (workspaceId: string): Promise<boolean> => trusted.remove(workspaceId),
  };
}

export type WorkspaceCapabilityStore = Awaited<ReturnType<typeof createWorkspaceCapabilityStore>>;
