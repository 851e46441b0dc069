/** The schedule that starts the cleanup, and the id of what it starts. */
export const attachmentCleanupId = 'attachment-cleanup';
