package server

import (
	"crypto/tls"
	"log/slog"
	"sync"
	"time"
)

// certificateAge is the time after which a handshake reads the files of a Certificate again.
const certificateAge = time.Second

// Certificate is the TLS certificate of a service. New files take effect within a second, so that a
// certificate can be renewed while the service runs.
type Certificate struct {
	cert, key string // PEM files
	log       *slog.Logger

	mu    sync.Mutex
	pair  *tls.Certificate
	read  time.Time // the last attempt to read the files
	fault string    // of that attempt
}

// OpenCertificate reads a certificate chain and its private key from PEM files.
func OpenCertificate(cert, key string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, log: log}
	return c, c.reread()
}

// Config returns a configuration of TLS 1.2 and later with the certificate.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}
}

// get returns the certificate of the files. If they cannot be read, or do not belong together, it warns
// and returns the last certificate.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.read) >= certificateAge {
		fault := ""
		if err := c.reread(); err != nil {
			fault = err.Error()
		}
		if fault != "" && fault != c.fault {
			c.log.Warn("the last TLS certificate stays in use", "error", fault)
		}
		c.fault = fault
	}
	return c.pair, nil
}

func (c *Certificate) reread() error {
	c.read = time.Now()
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return err
	}
	c.pair = &pair
	return nil
}
