/** The action of what is done with trackers in the audit log. */
export const trackerAction = 'tracker.sync';
