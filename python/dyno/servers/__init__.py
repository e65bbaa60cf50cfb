"""What every private server needs, whatever product it is: an identity, a lock, a life, a log."""
