import type { RunApproval } from '../../contracts/runs/approval';

/** What response data is sealed for: a box of one approval does not open as another's. */
export const responseContext = ({ id, actionHash }: Pick<RunApproval, 'id' | 'actionHash'>): string =>
  `${id}/${actionHash}`;
