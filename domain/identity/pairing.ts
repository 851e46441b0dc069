import { type Permission, type Role, rolePermissions } from '../../contracts/permissions';
import { inAll } from './grants';

interface Offer {
  role: Role;
  scopes: readonly Permission[];
  capabilities: readonly string[];
}

/** What an administrator has offered with a code, and what the device asks for. */
export interface PairingTerms {
  offered: Offer;
  requested: Offer;
}

/** What a device is approved for: no more than the code offers, than it asks for, and than its role permits. */
export function approvedTerms({ offered, requested }: PairingTerms): { scopes: Permission[]; capabilities: string[] } {
  return {
    scopes: inAll(offered.scopes, requested.scopes, rolePermissions[offered.role], rolePermissions[requested.role]),
    capabilities: [...new Set(requested.capabilities)].filter((one) => offered.capabilities.includes(one)),
  };
}
