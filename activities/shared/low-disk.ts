import type { LaunchFinding } from '../../contracts/runs/launch/manifest';
import { freeBytes } from '../../platform/processes/disk/free-space';

export interface LowDiskOptions {
  /** The data directory of this host; findings do not name it. */
  directory: string;
  hostId: string;
  /** How much space has to be free there, in MiB. */
  minFreeMb: number;
}

/** Checks whether this host has too little space for a run: the finding warns the actor who is about to start one. */
export const lowDisk =
  ({ directory, hostId, minFreeMb }: LowDiskOptions) =>
  async (): Promise<LaunchFinding[]> => {
    const freeMb = Math.floor((await freeBytes(directory)) / 1_048_576);
    if (freeMb >= minFreeMb) {
      return [];
    }
    const message = `The host ${hostId} has ${freeMb} MiB of free disk space; ${minFreeMb} MiB are required.`;
    const remedy = 'Free space on the host, or lower BOARD_DISK_MIN_FREE_MB.';
    return [{ code: 'disk-space-low', message, remedy }];
  };
