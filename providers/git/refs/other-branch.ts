/** A worktree that is on another branch than its own, and how a person puts it back; with `-B` the branch follows to HEAD. */
export const onOtherBranch = (
  path: string,
  { actual, expected }: { actual: string | null; expected: string },
): string =>
  `${path} is on ${actual ?? 'a detached HEAD'}, not on ${expected}. Check that out with git -C ${path} checkout ${expected}, ` +
  `or move it to what is checked out with git -C ${path} checkout -B ${expected}.`;
