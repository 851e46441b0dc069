export function FleetView() {
  return null;
}
