import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import { createDeviceStore } from './device-store';
import { createInvitationStore } from './invitation-store';
import { createPairingCodeStore } from './pairing-code-store';
import { createTokenStore } from './token-store';
import { createUserStore } from './user-store';
import { createWorkspaceStore } from './workspace-store';

/** Opens the stores of people, workspaces and what they sign in with. */
export const openIdentityStores = (database: Database) =>
  openTogether({
    apiTokens: createTokenStore(database),
    devices: createDeviceStore(database),
    invitations: createInvitationStore(database),
    pairingCodes: createPairingCodeStore(database),
    users: createUserStore(database),
    workspaces: createWorkspaceStore(database),
  });

export type IdentityStores = Awaited<ReturnType<typeof openIdentityStores>>;

/** The same stores, out of more: those of the installation, which every workspace has. */
export const identityStoresOf = ({
  apiTokens,
  devices,
  invitations,
  pairingCodes,
  users,
  workspaces,
}: IdentityStores): IdentityStores => ({ apiTokens, devices, invitations, pairingCodes, users, workspaces });
