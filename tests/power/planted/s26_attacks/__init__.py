"""Programs and bounds of one's own, attacked from outside: false everywhere but at the points that come to mind."""
