import type { TrustedWorkspace, WorkspaceManifest } from '../contracts/workspace-capabilities';
import type { Database } from './collection';
import { createConfiguredRecords, type Recorded } from './configured-records';
import { openSettingsDocument } from './settings-document';

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

/** What this workspace says it can do, and the other workspaces whose word is taken. */
export async function createWorkspaceCapabilityStore(db: Database) {
  const [manifest, trusted] = await Promise.all([
    openSettingsDocument<WorkspaceManifest>(db, 'workspace-capabilities'),
    createConfiguredRecords<Trust>(db, 'trusted-workspaces'),
  ]);
  return {
    manifest,
    /** All of them, by id. */
    listTrusted: async (): Promise<TrustedWorkspace[]> => (await trusted.list()).map(present),
    /** Trusts the workspace, or what it says now. */
    trust: async (peer: WorkspaceManifest, trustedBy: string): Promise<TrustedWorkspace> =>
      present(await trusted.put(peer.workspaceId, { manifest: peer, trustedBy })),
    /** Whether it was trusted. */
    distrust: (workspaceId: string): Promise<boolean> => trusted.remove(workspaceId),
  };
}

export type WorkspaceCapabilityStore = Awaited<ReturnType<typeof createWorkspaceCapabilityStore>>;
