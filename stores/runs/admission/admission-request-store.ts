import type { AdmissionRequest } from '../../../domain/admission/request';
import type { Database } from '../../port/collection';
import { insertOrGet } from '../../port/insert';

/** The admission request of each attempt, from which its descendants read the tree they belong to. */
export async function createAdmissionRequestStore(db: Database) {
  const requests = await db.collection<AdmissionRequest & { _id: string }>({ name: 'admission-requests' });
  return {
    async get(attemptId: string): Promise<AdmissionRequest | undefined> {
      const record = await requests.get(attemptId);
      return record && present(record);
    },

    /** Writes the request once, and returns the stored one. */
    put: async (request: AdmissionRequest): Promise<AdmissionRequest> =>
      present(await insertOrGet(requests, { _id: request.attemptId, ...request })),
  };
}

/** It becomes part of other documents, which have an id of their own. */
const present = ({ _id, ...request }: AdmissionRequest & { _id: string }): AdmissionRequest => request;

export type AdmissionRequestStore = Awaited<ReturnType<typeof createAdmissionRequestStore>>;
