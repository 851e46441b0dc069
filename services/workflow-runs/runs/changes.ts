import { patched } from '@temporalio/workflow';

/** All changes up to that month. A change that comes later is asked for by `patched` alone: runs of this one lack it. */
const changesUntilNow = 'changes-until-2026-11';

/**
 * Whether the code of a run has a change that its history may be without. A run that begins now has one mark for all changes so
 * far, since each mark is two events and a write of search attributes; one that began before has those that it has met.
 */
export const hasChange = (change: string): boolean => patched(changesUntilNow) || patched(change);
