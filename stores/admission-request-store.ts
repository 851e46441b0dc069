import type { AdmissionRequest } from '../runs/admission/request';
import type { Database } from './collection';
import { insertOrGet } from './insert';

/** What each attempt asked admission for: where its descendants find the tree they belong to. */
export async function createAdmissionRequestStore(db: Database) {
  const requests = await db.collection<AdmissionRequest & { _id: string }>({ name: 'admission-requests' });
  return {
    async get(attemptId: string): Promise<AdmissionRequest | undefined> {
      const found = await requests.get(attemptId);
      return found && present(found);
    },

    /** Writes the request once, and answers the one that stands. */
    put: async (request: AdmissionRequest): Promise<AdmissionRequest> =>
      present(await insertOrGet(requests, { _id: request.attemptId, ...request })),
  };
}

/** It becomes part of other documents, which have an id of their own. */
const present = ({ _id, ...request }: AdmissionRequest & { _id: string }): AdmissionRequest => request;

export type AdmissionRequestStore = Awaited<ReturnType<typeof createAdmissionRequestStore>>;
